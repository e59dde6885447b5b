/** Who is signed in: the server writes it into the page, so that the first picture needs no request. */
export type Role = "owner" | "operator" | "viewer";
export type Feature = "chat" | "memory" | "qc" | "vision";

export interface Session {
  tenant: {
    id: string;
    name: string;
    language: "ru" | "en";
    time_zone: string;
    is_active: boolean;
    features: Feature[];
  };
  person: { name: string | null; email: string | null; role: Role };
  /** Other accounts of the same person, which the server changes over to. */
  others: { id: string; name: string }[];
  urls: { public: string; mcp: string };
  can_top_up: boolean;
  /** Whether a mail server is set up; without one, links are written into the server's log. */
  can_mail: boolean;
}

export const session = JSON.parse(document.getElementById("session")?.textContent || "null") as Session;

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
/** What inline styles need to be let in by the page's policy. */
export const styleNonce = () => nonce;

export const hasFeature = (feature: Feature) => session.tenant.features.includes(feature);

const RANKS: Role[] = ["viewer", "operator", "owner"];
/** Whether the person may do what this role may; the server has the last word. */
export const mayAct = (role: Role) => RANKS.indexOf(session.person.role) >= RANKS.indexOf(role);
