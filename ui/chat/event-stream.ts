/** One server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export interface ServerEvent {
  name: string;
  data: string;
}

/** The stream ended in the middle, or nothing came for too long. */
export class StreamBroken extends Error {}

// A carriage return at the very end may be half of CRLF, so it waits for what follows.
const LINE_END = /\r\n|\n|\r(?=[\s\S])/;

/**
 * Reads server-sent events; comments only show that the server is alive.
 * Throws StreamBroken when the connection breaks or is silent for `silence_ms`.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>, silence_ms = 60_000): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  let name = "";
  let data: string[] = [];
  try {
    while (true) {
      const { done, value } = await readWithin(reader, silence_ms);
      rest += done ? "" : decoder.decode(value, { stream: true });
      for (let end = LINE_END.exec(rest); end; end = LINE_END.exec(rest)) {
        const line = rest.slice(0, end.index);
        rest = rest.slice(end.index + end[0].length);
        if (line === "") {
          if (data.length > 0) yield { name: name || "message", data: data.join("\n") };
          name = "";
          data = [];
          continue;
        }
        const [field, text] = splitField(line);
        if (field === "event") name = text;
        else if (field === "data") data.push(text);
      }
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => undefined); // the connection may be gone already
  }
}

async function readWithin(reader: ReadableStreamDefaultReader<Uint8Array>, silence_ms: number) {
  let timer: number | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = window.setTimeout(() => reject(new StreamBroken("silent")), silence_ms);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw error instanceof StreamBroken ? error : new StreamBroken("broken off");
  } finally {
    window.clearTimeout(timer);
  }
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(":");
  if (colon < 0) return [line, ""];
  const text = line.slice(colon + 1);
  return [line.slice(0, colon), text.startsWith(" ") ? text.slice(1) : text];
}
