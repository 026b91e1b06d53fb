// Taken before the tool is loaded, which may replace it.
const { UTC: utc } = Date;

const time = String.raw`(?<hour>\d\d):(?<minute>\d\d)(?::(?<second>\d\d)(?:[.,](?<fraction>\d+))?)?`;
const zone = String.raw`(?:Z|GMT|UTC?)?(?:(?<sign>[+-])(?<hours>\d\d):?(?<minutes>\d\d))?`;
const after = String.raw`(?: ${time} ?${zone}(?: \(.*\))?)?`;
const forms = [
  String.raw`(?<year>[+-]\d{6}|\d{4})(?:-(?<month>\d\d)(?:-(?<day>\d\d))?)?(?:[T ]${time}${zone})?`,
  String.raw`(?:[a-z]{3}, *)?(?<day>\d\d?) (?<month>[a-z]{3}) (?<year>-?\d{4,6})${after}`,
  String.raw`(?:[a-z]{3} )?(?<month>[a-z]{3}) (?<day>\d\d?),? (?<year>-?\d{4,6})${after}`,
].map((form) => new RegExp(`^\\s*${form}\\s*$`, "i"));

/**
 * Reads a date from text, local time being UTC. The shell never asks the engine's own reader: which forms beyond the standard it takes, and in which of them it means
 * the machine's zone, differs from engine to engine.
 *
 * Takes the standard's format (ECMA-262, 21.4.1.32), what `toString` and `toUTCString` write, and the date of a mail (RFC 5322, 3.3). NaN for everything else.
 */
export function parseDate(text: string): number {
  for (const form of forms) {
    const parts = form.exec(text)?.groups;
    if (parts) return instantOf(parts);
  }
  return Number.NaN;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAY_MS = 86_400_000;
/** In which the calendar repeats itself. */
const YEARS = 400;
const YEARS_MS = 146_097 * DAY_MS;
const LAST_MS = 8.64e15;

/** The time value (ECMA-262, 21.4.1.1), or NaN where the calendar has no such day or the day no such time. */
function instantOf(parts: Readonly<Record<string, string>>): number {
  const { year = "", month = "1", day: dayText = "1", hour = "0", minute = "0", second = "0", fraction = "" } = parts;
  const day = Number(dayText);
  const monthAt = (Number(month) || months.indexOf(month.toLowerCase()) + 1) - 1;
  // The language takes years below 100 for those of the last century.
  const cycles = Math.floor(Number(year) / YEARS) - 5;
  const yearAt = Number(year) - cycles * YEARS;
  const date = utc(yearAt, monthAt, day);
  const isDay = monthAt >= 0 && monthAt < 12 && day > 0 && date < utc(yearAt, monthAt + 1);
  const minutes = Number(hour) * 60 + Number(minute);
  const inDay = (minutes * 60 + Number(second)) * 1_000 + Number(`${fraction}000`.slice(0, 3));
  const isTime = Number(minute) < 60 && Number(second) < 60 && inDay <= DAY_MS;
  const instant = cycles * YEARS_MS + date + inDay - offsetOf(parts) * 60_000;
  return year !== "-000000" && isDay && isTime && Math.abs(instant) <= LAST_MS ? instant : Number.NaN;
}

/** Minutes east of Greenwich. */
function offsetOf({ sign, hours = "0", minutes = "0" }: Readonly<Record<string, string>>): number {
  const offset = Number(hours) * 60 + Number(minutes);
  return Number(minutes) > 59 || offset > 1_439 ? Number.NaN : sign === "-" ? -offset : offset;
}
