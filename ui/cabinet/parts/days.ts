const DAY_MS = 86_400_000;

/** The moment at which a day (YYYY-MM-DD) begins in a time zone, as ISO 8601. */
export function dayStart(day: string, zone: string): string {
  const utc = Date.parse(`${day}T00:00:00Z`);
  // The offset may differ at the guess and at the day's real beginning: twice is enough for every zone.
  let at = utc;
  for (let round = 0; round < 2; round += 1) at = utc - offsetAt(at, zone);
  return new Date(at).toISOString();
}

/** The moment at which the day after a day begins in a time zone: when the day is over. */
export function dayOver(day: string, zone: string): string {
  return dayStart(new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10), zone);
}

/** The last millisecond of a day in a time zone. */
export function dayEnd(day: string, zone: string): string {
  return new Date(Date.parse(dayOver(day, zone)) - 1).toISOString();
}

/** How many milliseconds clocks of the zone are ahead of UTC at a moment. */
function offsetAt(at: number, zone: string): number {
  const whole = Math.floor(at / 1000) * 1000;
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  }).formatToParts(whole);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? "00";
  // A year that is being typed has fewer digits.
  const clock = `${of("year").padStart(4, "0")}-${of("month")}-${of("day")}T${of("hour")}:${of("minute")}:${of("second")}Z`;
  return Date.parse(clock) - whole;
}
