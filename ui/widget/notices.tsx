import { Button } from "./button";
import type { Failure } from "./failures";
import type { Texts } from "./texts";
import type { Widget } from "./widget";

/** What is true of the whole conversation just now; it is said aloud, too. */
export function Notices({ widget }: { widget: Widget }) {
  const { conversation, texts, is_offline } = widget;
  const { person, is_reconnecting, loading } = conversation.state;
  const is_bad = is_offline || is_reconnecting || loading === "failed";
  const words = is_offline
    ? texts.offline
    : is_reconnecting
      ? texts.reconnecting
      : is_bad
        ? texts.history_failed
        : person.taken_over
          ? texts.person_here(person.operator_name)
          : person.person_requested && texts.person_requested;
  return (
    <div role="status">
      {words && (
        <p class={is_bad ? "bar bad" : "bar"}>
          {words}{" "}
          {words === texts.history_failed && (
            <Button class="plain" press={() => conversation.load()}>
              {texts.try_again}
            </Button>
          )}
        </p>
      )}
    </div>
  );
}

interface FailureProps {
  texts: Texts;
  failure: Failure;
  words?: string;
  retry: () => void;
}

/** Says what failed, with a button that tries again once the server's wait is over. */
export function FailureNotice({ texts, failure, words, retry }: FailureProps) {
  const left_s = Math.ceil((failure.not_before_ms - Date.now()) / 1000);
  return (
    <div class="notice bad">
      <p>{words ?? texts.failures[failure.reason]}</p>
      {failure.can_retry && (
        <Button class="secondary" disabled={left_s > 0} press={retry}>
          {left_s > 0 ? texts.try_again_in(left_s) : texts.try_again}
        </Button>
      )}
    </div>
  );
}
