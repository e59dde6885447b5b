const NEAR_PX = 80;
const MARGIN_PX = 12;

/** Keeps the end of the messages in view until the reader scrolls away. */
export class Reading {
  private is_following = true;
  private last_top = 0;
  private question = "";
  private end = "";

  /** Called when the messages were drawn: what the visitor asked last, and how far the answer has come. */
  drawn(box: HTMLElement | null, question: string, end: string): void {
    if (!box) return;
    if (question !== this.question) this.is_following = true;
    if (end !== this.end && this.is_following) this.follow(box);
    this.question = question;
    this.end = end;
    this.look(box);
  }

  /** Scrolls to the end, but never so far that the question leaves the window, unless the reader wants that. */
  follow(box: HTMLElement, is_whole = false): void {
    const asked = [...box.querySelectorAll<HTMLElement>(".visitor")].at(-1);
    const end = box.scrollHeight - box.clientHeight;
    box.scrollTop = asked && !is_whole ? Math.min(end, asked.offsetTop - MARGIN_PX) : end;
  }

  /** Sees where the reader is; the button behind the messages is there for one who is away from their end. */
  look(box: HTMLElement): void {
    const left_px = box.scrollHeight - box.clientHeight - box.scrollTop;
    if (box.scrollTop < this.last_top) this.is_following = false; // its own scrolling only goes down
    if (left_px < NEAR_PX) this.is_following = true;
    this.last_top = box.scrollTop;
    box.nextElementSibling?.toggleAttribute("hidden", left_px <= NEAR_PX);
  }
}
