import { fields, number, text } from "./fields";

interface Kept {
  token: string | null;
  ends_at_ms: number;
  renewal: string | null;
  /** The last message of the company's people that was shown to the visitor. */
  seen: string | null;
}

const SPARE_MS = 30_000;

/** What the browser remembers of its visitor, by the widget's key: a token for an hour, and the right to a next one. */
export class Visitor {
  /** The conversation was left for a new one: calls under way may end, but nothing is remembered any more. */
  is_past = false;
  private readonly name: string;
  kept: Kept;

  constructor(key: string) {
    this.name = `parley.visitor.${key}`;
    this.kept = read(this.name);
    addEventListener("storage", (event) => event.key === this.name && this.hear());
  }

  /** Another tab remembers something else now: a first conversation is this tab's too, one that was left is past. */
  private hear(): void {
    const { token, renewal, seen } = read(this.name);
    if (!this.is_known) this.kept = read(this.name);
    else if (token || renewal) this.kept.seen = seen;
    else this.is_past = true;
  }

  /** A token that is still good, as far as the clock says. */
  get token(): string | null {
    return this.kept.ends_at_ms - SPARE_MS > Date.now() ? this.kept.token : null;
  }

  get is_known(): boolean {
    return this.token !== null || this.kept.renewal !== null;
  }

  see(seen: string | null): void {
    this.write({ ...this.kept, seen });
  }

  keep(token: string, expires_in_s: number, renewal: string | null): void {
    this.write({ ...this.kept, token, ends_at_ms: Date.now() + expires_in_s * 1000, renewal });
  }

  /** The token is refused; the renewal may still be good. */
  dropToken(): void {
    this.write({ ...this.kept, token: null, ends_at_ms: 0 });
  }

  forget(): void {
    this.write(keptIn(null));
  }

  leave(): void {
    const { kept } = this;
    this.forget();
    this.kept = kept;
    this.is_past = true;
  }

  private write(kept: Kept): void {
    this.kept = kept;
    if (this.is_past) return;
    try {
      localStorage.setItem(this.name, JSON.stringify(kept));
    } catch {
      // Storage is full or forbidden: the visitor lives as long as the page.
    }
  }
}

function read(name: string): Kept {
  try {
    return keptIn(JSON.parse(localStorage.getItem(name) ?? "null"));
  } catch {
    return keptIn(null); // storage is forbidden, or another program's text is in it
  }
}

function keptIn(value: unknown): Kept {
  const { token, ends_at_ms, renewal, seen } = fields(value);
  return { token: text(token), ends_at_ms: number(ends_at_ms) ?? 0, renewal: text(renewal), seen: text(seen) };
}
