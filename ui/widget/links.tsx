import type { ComponentChild } from "preact";

/** A link to another site, which opens in a new tab and learns nothing of this page. */
export function webLink(url: URL, children: ComponentChild) {
  return (
    <a href={url.href} target="_blank" rel="noopener noreferrer nofollow">
      {children}
    </a>
  );
}
