import { Group, SegmentedControl, TextInput } from "@mantine/core";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { useSearchParams } from "react-router";
import { session } from "../../app/session";
import { type Texts, useTexts } from "../../i18n/language";

const texts: Texts<{ label: string; days: (count: number) => string; own: string; from: string; to: string }> = {
  en: { label: "Period", days: (count) => `${count} days`, own: "Own", from: "From", to: "To" },
  ru: { label: "Период", days: (count) => `${count} дней`, own: "Свой", from: "С", to: "По" },
};

const LENGTHS = [7, 30, 90];
const DEFAULT_DAYS = 30;
const DAY_MS = 86_400_000;
const MOST_DAYS_OF_BARS = 62;
const MOST_WEEKS_OF_BARS = 400;

/** Whole days of the account's time zone, both inclusive, as YYYY-MM-DD. */
export interface Period {
  from: string;
  to: string;
  days: number;
  /** The stretches that a chart of it has: more than two months by day would be a comb. */
  step: "day" | "week" | "month";
}

const dayOf = (moment: Date) => new Intl.DateTimeFormat("en-CA", { timeZone: session.tenant.time_zone }).format(moment);
export const today = () => dayOf(new Date());
export const shiftDay = (day: string, by: number) =>
  new Date(new Date(`${day}T00:00:00Z`).getTime() + by * DAY_MS).toISOString().slice(0, 10);
const isDay = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

function periodOf(from: string, to: string): Period {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  const step = days <= MOST_DAYS_OF_BARS ? "day" : days <= MOST_WEEKS_OF_BARS ? "week" : "month";
  return { from, to, days, step };
}

/** As many days before it. */
export const before = (period: Period) => periodOf(shiftDay(period.from, -period.days), shiftDay(period.from, -1));

/** The period that the address names: `days`, or `from` and `to`. */
export function usePeriod(): Period {
  const [params] = useSearchParams();
  const from = params.get("from");
  const to = params.get("to");
  const asked = Number(params.get("days"));
  const last = today();
  return useMemo(() => {
    if (isDay(from) && isDay(to) && from <= to) return periodOf(from, to);
    const days = LENGTHS.includes(asked) ? asked : DEFAULT_DAYS;
    return periodOf(shiftDay(last, 1 - days), last);
  }, [from, to, asked, last]);
}

/** Switches the period, in the address: so that it can be kept and sent. */
export function PeriodSwitch() {
  const t = useTexts(texts);
  const [params, setParams] = useSearchParams();
  const period = usePeriod();
  const isOwn = params.has("from");
  const set = useCallback(
    (values: Record<string, string>) =>
      setParams(
        (old) => {
          const next = new URLSearchParams(old);
          for (const name of ["days", "from", "to"]) next.delete(name);
          for (const [name, value] of Object.entries(values)) next.set(name, value);
          return next;
        },
        { replace: true, preventScrollReset: true },
      ),
    [setParams],
  );
  // Both days may be typed before the page has followed the first of them.
  const own = useRef({ from: period.from, to: period.to });
  useEffect(() => {
    own.current = { from: period.from, to: period.to };
  }, [period.from, period.to]);
  const setDay = (values: { from: string } | { to: string }) => {
    own.current = { ...own.current, ...values };
    set(own.current);
  };
  return (
    <Group gap="xs" align="center">
      {isOwn && (
        <>
          <TextInput
            type="date"
            size="xs"
            aria-label={t.from}
            value={period.from}
            max={period.to}
            onChange={(event) => isDay(event.target.value) && setDay({ from: event.target.value })}
          />
          <TextInput
            type="date"
            size="xs"
            aria-label={t.to}
            value={period.to}
            min={period.from}
            onChange={(event) => isDay(event.target.value) && setDay({ to: event.target.value })}
          />
        </>
      )}
      <SegmentedControl
        size="sm"
        aria-label={t.label}
        value={isOwn ? "own" : String(period.days)}
        data={[
          ...LENGTHS.map((days) => ({ value: String(days), label: t.days(days) })),
          { value: "own", label: t.own },
        ]}
        onChange={(value) => set(value === "own" ? { from: period.from, to: period.to } : { days: value })}
      />
    </Group>
  );
}

/** The list of communications of a period, narrowed down further. */
export function listPath(period: { from: string; to: string }, filters: Record<string, string> = {}): string {
  return `/communications?${new URLSearchParams({ from: period.from, to: period.to, ...filters })}`;
}
