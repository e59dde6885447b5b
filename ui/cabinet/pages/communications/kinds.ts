import type { components } from "../../api/schema/public";
import type { Texts } from "../../i18n/language";

type Schemas = components["schemas"];
export type Listed = Schemas["ListedCommunication"];
export type Details = Schemas["CommunicationDetails"];
export type Item = Schemas["ContentItemBody"];
export type Person = Schemas["CommunicationSpeaker"];
export type Finding = Schemas["SpeakerSummaryItem"];

export const KINDS = ["call", "chat", "email"] as const;
export const CHANNELS = ["phone", "telegram", "whatsapp", "email", "widget"] as const;
export const DIRECTIONS = ["in", "out"] as const;
export const CATEGORIES = [
  "no_contact",
  "sales",
  "renewal",
  "support",
  "billing",
  "supply",
  "complaint",
  "internal",
] as const;

type Named<Keys extends readonly string[]> = Record<Keys[number], string>;

interface KindTexts {
  kinds: Named<typeof KINDS>;
  channels: Named<typeof CHANNELS>;
  directions: Named<typeof DIRECTIONS>;
  categories: Named<typeof CATEGORIES>;
  roles: Record<string, string>;
  speaker: (number: number) => string;
  nobody: string;
}

/** What the API's words are called in the language of who reads. */
export const kindTexts: Texts<KindTexts> = {
  en: {
    kinds: { call: "Call", chat: "Chat", email: "Mail" },
    channels: { phone: "Phone", telegram: "Telegram", whatsapp: "WhatsApp", email: "E-mail", widget: "Site widget" },
    directions: { in: "Incoming", out: "Outgoing" },
    categories: {
      no_contact: "No contact",
      sales: "Sales",
      renewal: "Renewal",
      support: "Support",
      billing: "Billing",
      supply: "Order and delivery",
      complaint: "Complaint",
      internal: "Internal meeting",
    },
    roles: { client: "client", sales: "sales", support: "support", employee: "employee", unknown: "" },
    speaker: (number) => `Speaker ${number}`,
    nobody: "Nobody is named",
  },
  ru: {
    kinds: { call: "Звонок", chat: "Чат", email: "Письма" },
    channels: { phone: "Телефон", telegram: "Telegram", whatsapp: "WhatsApp", email: "Почта", widget: "Виджет сайта" },
    directions: { in: "Входящий", out: "Исходящий" },
    categories: {
      no_contact: "Без контакта",
      sales: "Продажа",
      renewal: "Продление",
      support: "Поддержка",
      billing: "Оплата и счета",
      supply: "Заказ и доставка",
      complaint: "Жалоба",
      internal: "Внутренняя встреча",
    },
    roles: { client: "клиент", sales: "продажи", support: "поддержка", employee: "сотрудник", unknown: "" },
    speaker: (number) => `Говорящий ${number}`,
    nobody: "Участники не названы",
  },
};

/** A category in the language of who reads; what the server calls it (`label`) where it is none of ours. */
export const categoryName = (names: KindTexts["categories"], code: string | null, label: string | null) =>
  (names as Record<string, string>)[code ?? ""] ?? label;

/** A person's name, or what the account knows them by. */
export const nameOf = (person: Pick<Person, "name" | "external_id">) => person.name || person.external_id;

/** The client first: it is them whom people look for. */
export function namesOf(people: Person[], most = 3): string {
  const rank = (person: Person) => (person.role === "client" ? 0 : 1);
  const named = people.filter((person) => nameOf(person)).sort((one, other) => rank(one) - rank(other));
  const shown = named.slice(0, most).map(nameOf).join(", ");
  return named.length > most ? `${shown} +${named.length - most}` : shown;
}

/** What stands at the head of a communication, and in the line under it: of a mail its subject, then who writes; of a
 * call or chat who takes part, then its title, where that says something else. */
export function headOf(found: Listed | Details): { first: string; second: string } {
  const names = namesOf(found.speakers);
  // Without a title of its own it is called by who takes part, by its id, or by its kind.
  const known = new Set([...found.speakers.map(nameOf), found.request_record_id, found.kind]);
  const title = found.title.split(", ").every((part) => known.has(part)) ? "" : found.title;
  const [first, second] = found.kind === "email" && title ? [title, names] : [names, title];
  return first ? { first, second } : { first: second || found.request_record_id || "", second: "" };
}

/** "SPEAKER_03" is the fourth voice. */
export function labelName(label: string, speaker: (number: number) => string): string {
  const number = /^SPEAKER_(\d+)$/.exec(label)?.[1];
  return number === undefined ? label : speaker(Number(number) + 1);
}

export const isOpen = (status: string | null) => status === "pending" || status === "processing";

/** Whether something is still being done for it. */
export const isInWork = (found: Details) =>
  [
    found.transcription_status,
    found.summary_generation_status,
    found.qc_generation_status,
    found.memory_generation_status,
  ].some(isOpen);
