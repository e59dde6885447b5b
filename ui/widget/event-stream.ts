/** One server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export interface ServerEvent {
  id: number | null;
  name: string;
  data: string;
}

/** The stream ended in the middle, or nothing came for too long. */
export class StreamBroken extends Error {}

const SILENCE_MS = 45_000; // the server says something every 15 s

/**
 * Reads server-sent events; comments only show that the server is alive.
 * Throws StreamBroken when the connection breaks or is silent.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    while (true) {
      const { done, value } = await readInTime(reader);
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) yield readEvent(block);
    }
  } finally {
    reader.cancel().catch(() => undefined); // the connection may be gone already
  }
}

async function readInTime(reader: ReadableStreamDefaultReader<Uint8Array>) {
  let timer = 0;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, SILENCE_MS);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch {
    throw new StreamBroken();
  } finally {
    clearTimeout(timer);
  }
}

function readEvent(block: string): ServerEvent {
  const event: ServerEvent = { id: null, name: "", data: "" };
  for (const line of block.split(/\r?\n/)) {
    const [, field, text = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (field === "event") event.name = text;
    else if (field === "data") event.data += text;
    else if (field === "id") event.id = Number(text);
  }
  return event;
}
