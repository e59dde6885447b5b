import type { AnswerProps } from "./answer";
import { Button } from "./button";
import { focusOnce } from "./focus";
import { filledIn } from "./forms";
import type { Vote } from "./model";

const MOST_CHARACTERS = 1000;

/** Thumbs, and a word on what was wrong. */
export function Feedback({ entry, widget }: AnswerProps) {
  const { conversation, texts } = widget;
  const rate = async (value: Vote, comment?: string) => {
    const is_commenting = value === "down" && comment === undefined;
    const show = (said: string, is_commenting = false) => conversation.amend(entry.key, { said, is_commenting });
    show("", is_commenting);
    try {
      await conversation.rate(entry, value, comment);
      if (value && !is_commenting) show(texts.thanks);
    } catch {
      show(texts.not_sent);
    }
  };
  const thumb = (value: "up" | "down", icon: "good" | "bad") => (
    <Button
      aria-pressed={entry.feedback === value}
      icon={icon}
      label={texts[icon]}
      press={() => rate(entry.feedback === value ? null : value)}
    />
  );
  const submit = (event: SubmitEvent) => rate("down", filledIn(event).comment ?? "");
  return (
    <>
      {thumb("up", "good")}
      {thumb("down", "bad")}
      <span class="said" role="status">
        {entry.said}
      </span>
      {entry.is_commenting && (
        <form class="comment" onSubmit={submit}>
          <label class="field">
            {texts.what_was_wrong}
            <textarea name="comment" rows={2} maxLength={MOST_CHARACTERS} dir="auto" ref={focusOnce} />
          </label>
          <Button type="submit" class="secondary">
            {texts.send_comment}
          </Button>
        </form>
      )}
    </>
  );
}
