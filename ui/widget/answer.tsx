import type { ComponentChild } from "preact";
import { Button } from "./button";
import type { Entry } from "./conversation";
import { failureOf } from "./failures";
import { Feedback } from "./feedback";
import { closeOpenMarks, renderMarkdown } from "./markdown";
import { FailureNotice } from "./notices";
import { Source } from "./source";
import { wordsIn } from "./texts";
import type { Widget } from "./widget";

const SHOWN_MS = 1600;

export interface AnswerProps {
  entry: Entry;
  widget: Widget;
}

/** What an entry's text was drawn as; an entry that changes is another one. */
const drawn = new WeakMap<Entry, ComponentChild[]>();
let opener: HTMLElement | null = null;

/** One answer: waiting, growing, and then done, stopped or failed. */
export function Answer({ entry, widget }: AnswerProps) {
  const { conversation, texts } = widget;
  const { citations, key, shown, status, step, text } = entry;
  const is_growing = status === "answering";
  const source = citations.find((each) => each.citation === shown);
  const open = (citation: number, from: HTMLElement) => {
    opener = from;
    conversation.amend(key, { shown: shown === citation ? null : citation });
  };
  const close = () => {
    conversation.amend(key, { shown: null });
    opener?.focus();
  };
  return (
    <div class="answer" aria-busy={is_growing}>
      <span class="aside-text">{texts.answer}</span>
      {text && (
        <div class="markdown bubble" {...wordsIn(text)}>
          {bodyOf({ entry, widget }, open)}
        </div>
      )}
      {is_growing && (!text || step === "tool") && (
        <p class="status">
          <i />
          {texts.steps[step ?? "search"] ?? texts.steps.search}
        </p>
      )}
      {source && <Source key={shown} source={source} texts={texts} close={close} />}
      {status === "cancelled" && (
        <p class="stopped">
          {texts.stopped}{" "}
          <Button class="plain" disabled={conversation.state.asking} press={() => conversation.askAgain(entry)}>
            {texts.ask_again}
          </Button>
        </p>
      )}
      {status === "failed" && (
        <FailureNotice
          texts={texts}
          failure={entry.failure ?? failureOf(null)}
          retry={() => conversation.retry(entry.reply_to)}
        />
      )}
      {status === "answered" && text && (
        <>
          {citations[0] && (
            <ul class="sources" aria-label={texts.sources}>
              {citations.map(({ citation, title }) => (
                <li>
                  <Button aria-expanded={shown === citation} press={(event) => open(citation, event.currentTarget)}>
                    <span class="citation">{citation}</span>
                    <span class="source-name" {...wordsIn(title)}>
                      {title}
                    </span>
                  </Button>
                </li>
              ))}
            </ul>
          )}
          <div class="tools">
            <CopyButton entry={entry} widget={widget} />
            {entry.id && <Feedback entry={entry} widget={widget} />}
          </div>
        </>
      )}
    </div>
  );
}

function bodyOf({ entry, widget }: AnswerProps, open: (citation: number, from: HTMLElement) => void): ComponentChild[] {
  const { citations, status, text } = entry;
  const before = drawn.get(entry);
  if (before) return before;
  const body = renderMarkdown(status === "answering" ? closeOpenMarks(text) : text, (citation) => {
    const source = citations.find((each) => each.citation === citation);
    if (!source) return <span class="citation">{citation}</span>;
    const label = widget.texts.source(citation, source.title);
    return (
      <Button class="citation" label={label} press={(event) => open(citation, event.currentTarget)}>
        {citation}
      </Button>
    );
  });
  drawn.set(entry, body);
  return body;
}

/** Nothing where the browser lets no page copy (plain HTTP from another machine). */
function CopyButton({ entry, widget }: AnswerProps) {
  const { conversation, texts } = widget;
  if (!navigator.clipboard) return null;
  const show = (is_copied: boolean) => conversation.amend(entry.key, { is_copied });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(entry.text);
    } catch {
      return; // the visitor refused; nothing was copied, and nothing says so
    }
    show(true);
    setTimeout(() => show(false), SHOWN_MS);
  };
  return entry.is_copied ? (
    <Button icon="check" label={texts.copied} press={copy} />
  ) : (
    <Button icon="copy" label={texts.copy} press={copy} />
  );
}
