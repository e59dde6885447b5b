import type { Widget } from "./widget";

/** Says aloud what others see happening: one sentence while it is sought, the answer once, when it is whole. */
export function Announcer({ widget }: { widget: Widget }) {
  return (
    <div class="aside-text" role="status">
      {wordsOf(widget)}
    </div>
  );
}

function wordsOf({ conversation, texts }: Widget): string {
  const { entries, heard } = conversation.state;
  const last = entries.at(-1);
  if (!last || last.role === "visitor" || last.key === heard) return "";
  if (last.status === "answering") return texts.steps[last.step ?? "search"] ?? "";
  if (last.status === "failed") return texts.failures[last.failure?.reason ?? "other"];
  if (last.status === "cancelled") return texts.stopped;
  return last.text.replace(/ ?\[\d{1,3}\]|[*`#|]/g, "").replace(/\]\(\S+\)/g, "");
}
