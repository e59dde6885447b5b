import type { Source } from "./answers";

interface Kept {
  key: string;
  token: string | null;
  answers: { markdown: string; sources: Source[] }[];
}

const NAME = "parley.visitor";
const MOST_ANSWERS = 30;

/** What this tab remembers of its visitor: the token, and the sources of the answers, which the server's history lacks. */
export class Session {
  private kept: Kept;

  constructor(key: string) {
    this.kept = read(key) ?? { key, token: null, answers: [] };
  }

  get token(): string | null {
    return this.kept.token;
  }

  /** Begins as a new visitor; null forgets the old one. */
  begin(token: string | null): void {
    this.kept = { key: this.kept.key, token, answers: [] };
    this.write();
  }

  keepSources(markdown: string, sources: Source[]): void {
    if (sources.length === 0) return;
    this.kept.answers = [...this.kept.answers, { markdown, sources }].slice(-MOST_ANSWERS);
    this.write();
  }

  sourcesOf(markdown: string): Source[] {
    return this.kept.answers.findLast((answer) => answer.markdown === markdown)?.sources ?? [];
  }

  private write(): void {
    try {
      sessionStorage.setItem(NAME, JSON.stringify(this.kept));
    } catch {
      // Storage is full or forbidden: the visitor lives as long as the page.
    }
  }
}

function read(key: string): Kept | null {
  try {
    const kept: Kept | null = JSON.parse(sessionStorage.getItem(NAME) ?? "null");
    return kept?.key === key && Array.isArray(kept.answers) ? kept : null;
  } catch {
    return null; // storage is forbidden, or another program's text is in it
  }
}
