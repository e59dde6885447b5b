import type { Language } from "./language";

/** Forms of a word by number: Russian has three ("звонок", "звонка", "звонков"), English two. */
export type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

export interface Format {
  number: (value: number, digits?: number) => string;
  percent: (value: number | null | undefined, digits?: number) => string;
  /** An amount as the API gives it: a number, or its digits. */
  money: (roubles: number | string) => string;
  /** A price, which may be parts of a kopeck. */
  price: (roubles: number) => string;
  /** "3 calls": the number with the form of the word that goes with it. */
  count: (value: number, forms: Forms) => string;
  day: (moment: string | Date) => string;
  /** A day that has no time: YYYY-MM-DD. */
  date: (day: string) => string;
  time: (moment: string | Date) => string;
  moment: (moment: string | Date) => string;
  /** "5 minutes ago". */
  ago: (moment: string | Date) => string;
  /** A length of a call: 1:05, 1:02:03. */
  clock: (seconds: number) => string;
  /** A length in words: 2 min, 3 h. */
  length: (seconds: number) => string;
  bytes: (size: number) => string;
}

const STEPS: [number, Intl.RelativeTimeFormatUnit][] = [
  [60, "second"],
  [60, "minute"],
  [24, "hour"],
  [7, "day"],
  [4.35, "week"],
  [12, "month"],
  [Number.POSITIVE_INFINITY, "year"],
];

export function makeFormat(language: Language, timeZone: string): Format {
  const locale = language === "ru" ? "ru-RU" : "en-GB";
  const plural = new Intl.PluralRules(locale);
  const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const roubles = { style: "currency", currency: "RUB", currencyDisplay: "narrowSymbol" } as const;
  const money = new Intl.NumberFormat(locale, roubles);
  const price = new Intl.NumberFormat(locale, { ...roubles, minimumFractionDigits: 0, maximumFractionDigits: 6 });
  const days = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric", timeZone });
  const plainDays = new Intl.DateTimeFormat(locale, {
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone: "UTC",
  });
  const times = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit", timeZone });
  const number = (value: number, digits = 0) => value.toLocaleString(locale, { maximumFractionDigits: digits });
  // British English has "40 mins", which is wider than a tile.
  const units = language === "ru" ? locale : "en";
  const unit = (value: number, name: string, digits = 0) =>
    value.toLocaleString(units, { style: "unit", unit: name, unitDisplay: "short", maximumFractionDigits: digits });
  const day = (moment: string | Date) => days.format(new Date(moment));
  const time = (moment: string | Date) => times.format(new Date(moment));
  return {
    number,
    percent: (value, digits = 0) => (value === null || value === undefined ? "—" : `${number(value, digits)} %`),
    money: (amount) => money.format(Number(amount)),
    price: (amount) => price.format(amount),
    count: (value, forms) => `${number(value)} ${forms[plural.select(value)] ?? forms.other}`,
    day,
    date: (text) => plainDays.format(new Date(`${text}T00:00:00Z`)),
    time,
    moment: (moment) => `${day(moment)}, ${time(moment)}`,
    ago: (moment) => {
      let amount = (new Date(moment).getTime() - Date.now()) / 1000;
      for (const [most, name] of STEPS) {
        if (Math.abs(amount) < most) return relative.format(Math.round(amount), name);
        amount /= most;
      }
      return day(moment);
    },
    clock: (seconds) => {
      const whole = Math.max(0, Math.floor(seconds));
      const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
      const shown = parts[0] ? parts : parts.slice(1);
      return shown.map((part, index) => (index ? String(part).padStart(2, "0") : String(part))).join(":");
    },
    length: (seconds) => {
      if (seconds < 60) return unit(seconds, "second");
      if (seconds < 3600) return unit(seconds / 60, "minute");
      return seconds < 86_400 ? unit(seconds / 3600, "hour", 1) : unit(seconds / 86_400, "day", 1);
    },
    bytes: (size) => {
      if (size < 1000) return unit(size, "byte");
      return size < 1_000_000 ? unit(size / 1000, "kilobyte") : unit(size / 1_000_000, "megabyte", 1);
    },
  };
}
