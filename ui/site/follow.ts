const NEAR_PX = 120;
const MARGIN_PX = 16;

/** Keeps the end of the conversation in view while an answer grows, until the reader scrolls away. */
export class Follower {
  private is_following = true;

  constructor(private readonly chat: HTMLElement) {
    addEventListener("scroll", () => this.look(), { passive: true });
  }

  /** Goes to the end, whatever the reader looked at. */
  jump(question: HTMLElement): void {
    this.is_following = true;
    this.follow(question);
  }

  /** Scrolls to the end, but never so far that the question leaves the window. */
  follow(question: HTMLElement): void {
    if (!this.is_following) return;
    const end = this.chat.getBoundingClientRect().bottom - innerHeight;
    const top = question.getBoundingClientRect().top - MARGIN_PX;
    const by = Math.min(end, top);
    if (by > 0) scrollBy({ top: by, behavior: "instant" });
  }

  private look(): void {
    // A reader who goes back stops the following; the page's own scrolling only goes down, and ends near the end.
    const is_up = scrollY < this.last;
    this.last = scrollY;
    if (is_up) this.is_following = false;
    else if (this.chat.getBoundingClientRect().bottom - innerHeight < NEAR_PX) this.is_following = true;
  }

  private last = scrollY;
}
