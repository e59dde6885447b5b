const REACHABLE = "a[href], button:not(:disabled), textarea, input, [tabindex='0']";

/** Tells the styles what part of the window a telephone's keyboard leaves to be seen. */
export function followKeyboard({ style }: HTMLElement): void {
  const seen = window.visualViewport;
  const fit = () => {
    style.setProperty("--seen-height", `${seen?.height}px`);
    style.setProperty("--seen-top", `${seen?.offsetTop}px`);
  };
  for (const change of ["resize", "scroll"]) seen?.addEventListener(change, fit);
}

/** Tab goes round within the panel while it covers the page. */
export function keepFocusInside(event: KeyboardEvent, panel: HTMLElement): void {
  const reachable = [...panel.querySelectorAll<HTMLElement>(REACHABLE)].filter((each) => each.offsetParent);
  const [first, last] = [reachable.at(0), reachable.at(-1)];
  const active = (panel.getRootNode() as ShadowRoot).activeElement;
  const is_end = event.shiftKey ? active === first || active === panel : active === last;
  if (!is_end) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}

/**
 * Shows an element when it appears, and moves the focus there. That is a frame late, and a telephone's buttons take no
 * focus from a field: whoever is writing goes on.
 */
export function focusOnce(element: HTMLElement | null): void {
  if (!element) return;
  if (!(element.getRootNode() as ShadowRoot).activeElement?.matches("textarea")) element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}
