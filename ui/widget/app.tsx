import { Announcer } from "./announcer";
import { Composer } from "./composer";
import { ContactForm } from "./contact";
import { Header } from "./header";
import { Messages } from "./messages";
import { FailureNotice, Notices } from "./notices";
import type { Widget } from "./widget";

export function App({ widget }: { widget: Widget }) {
  const { config, failure, texts } = widget;
  return (
    <div
      id="panel"
      class="panel"
      role="dialog"
      aria-label={config?.title || texts.chat}
      aria-modal={widget.full.matches}
      tabIndex={-1}
      hidden={!widget.is_open}
      onKeyDown={(event) => widget.onKeyDown(event)}
    >
      <Header widget={widget} />
      {!config ? (
        <div class="empty">
          {failure ? (
            <FailureNotice texts={texts} failure={failure} words={texts.cannot_open} retry={() => widget.begin()} />
          ) : (
            <p class="status">{texts.loading}</p>
          )}
        </div>
      ) : widget.view === "contact" ? (
        <ContactForm widget={widget} />
      ) : (
        <>
          <Messages widget={widget} config={config} />
          <Notices widget={widget} />
          <Composer widget={widget} />
        </>
      )}
      <Announcer widget={widget} />
    </div>
  );
}
