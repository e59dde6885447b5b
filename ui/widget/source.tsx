import { Button } from "./button";
import { focusOnce } from "./focus";
import { webLink } from "./links";
import type { Citation } from "./model";
import { type Texts, wordsIn } from "./texts";

/** The place that an answer stands on, with a link where visitors may open it. */
export function Source({ source, texts, close }: { source: Citation; texts: Texts; close: () => void }) {
  const { citation, kind, page, snippet, title, url } = source;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  };
  return (
    <section
      class="source"
      tabIndex={-1}
      ref={focusOnce}
      aria-label={texts.source(citation, title)}
      onKeyDown={onKeyDown}
    >
      <p class="source-title" {...wordsIn(title)}>
        <span class="citation">{citation}</span> {title}
      </p>
      <Button class="tool" icon="close" label={texts.close_source} press={close} />
      <p class="source-place">
        {texts.kinds[kind]}
        {page !== null && ` · ${texts.page(page)}`}
      </p>
      {snippet && (
        <blockquote class="snippet" {...wordsIn(snippet)}>
          {snippet}
        </blockquote>
      )}
      {url && (
        <p>{webLink(url, [`${texts.open_source} (${url.host})`, <span class="aside-text">, {texts.new_tab}</span>])}</p>
      )}
    </section>
  );
}
