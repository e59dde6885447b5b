import { Button } from "./button";
import type { Widget } from "./widget";

const MOST_CHARACTERS = 4000;
const WARN_BELOW = 400;

/** The field for the question, and the button that sends it or stops the answer. */
export function Composer({ widget }: { widget: Widget }) {
  const { conversation, texts, words } = widget;
  const { asking, person } = conversation.state;
  const left = MOST_CHARACTERS - words.length;
  const send = () => {
    const question = widget.words.trim();
    if (!question || conversation.state.asking) return;
    widget.words = "";
    conversation.ask(question);
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        event.currentTarget.querySelector("textarea")?.focus({ preventScroll: true });
        if (conversation.state.asking) conversation.stop();
        else send();
      }}
    >
      <textarea
        id="question"
        ref={(field) => fit(field)} // a new function each time, so that it is called each time
        rows={1}
        dir="auto"
        maxLength={MOST_CHARACTERS}
        enterkeyhint="send"
        placeholder={person.taken_over ? texts.placeholder_person : texts.placeholder}
        aria-label={texts.question}
        aria-describedby="note"
        value={words}
        onInput={(event) => {
          widget.words = event.currentTarget.value;
          widget.draw();
        }}
        onKeyDown={(event) => {
          // Enter chooses a word while an input method is at work.
          if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <Button
        type="submit"
        class={asking || words.trim() ? "send" : "send idle"}
        icon={asking ? "stop" : "send"}
        label={asking ? texts.stop : texts.send}
      />
      <p class="note" id="note">
        {left < WARN_BELOW ? <span class="counter">{texts.characters_left(left)}</span> : texts.note}
      </p>
    </form>
  );
}

/** As high as its words. */
function fit(field: HTMLElement | null): void {
  if (!field) return;
  field.style.height = "auto";
  field.style.height = `${field.scrollHeight + 2}px`;
}
