import { Answer } from "./answer";
import { Button } from "./button";
import type { Entry } from "./conversation";
import type { Config } from "./model";
import { wordsIn } from "./texts";
import type { Widget } from "./widget";

interface Props {
  widget: Widget;
  config: Config;
}

/** Greeting, messages, and the way to the end of them. */
export function Messages({ widget, config }: Props) {
  const { conversation, is_open, reading, texts } = widget;
  const { entries, loading } = conversation.state;
  const last = entries.at(-1);
  const question = `${entries.findLast((entry) => entry.role === "visitor")?.key} ${is_open} ${loading}`;
  const end = `${question} ${entries.length} ${last?.text.length} ${last?.status}`;
  return (
    <div class="scroll-frame">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div
        class="messages"
        ref={(box) => reading.drawn(box, question, end)} // a new one each time, so it is called each time
        onScroll={(event) => reading.look(event.currentTarget)}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must scroll by keyboard, too
        tabIndex={0}
        role="group"
        aria-label={texts.messages}
      >
        {config.greeting && (
          <p class="greeting bubble" {...wordsIn(config.greeting)}>
            {config.greeting}
          </p>
        )}
        {loading === "yes" && <p class="status">{texts.loading}</p>}
        {!entries[0] && loading === "no" && config.suggestions[0] && (
          <ul class="suggestions" aria-label={texts.suggestions}>
            {config.suggestions.map((text) => (
              <li>
                <Button {...wordsIn(text)} press={() => conversation.ask(text)}>
                  {text}
                </Button>
              </li>
            ))}
          </ul>
        )}
        {entries[0] && (
          <ol class="list">
            {entries.map((entry) => (
              <li key={entry.key} class={entry.role}>
                {entry.role === "agent" ? (
                  <Answer entry={entry} widget={widget} />
                ) : (
                  <Said entry={entry} you={texts.you} />
                )}
              </li>
            ))}
          </ol>
        )}
      </div>
      <Button
        class="to-end"
        icon="down"
        label={texts.to_the_end}
        press={(event) => reading.follow(event.currentTarget.previousElementSibling as HTMLElement, true)}
      />
    </div>
  );
}

/** What the visitor said, or a person of the company. */
function Said({ entry, you }: { entry: Entry; you: string }) {
  const is_own = entry.role === "visitor";
  return (
    <>
      <p class={is_own ? "aside-text" : "author"}>{is_own ? you : entry.author}</p>
      <p class={is_own ? "own bubble" : "bubble"} {...wordsIn(entry.text)}>
        {entry.text}
      </p>
    </>
  );
}
