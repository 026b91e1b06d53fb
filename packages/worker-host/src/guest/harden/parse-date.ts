/**
 * Reads a date from text, local time being UTC. The shell never asks the engine's own reader: which forms beyond the standard it takes, and in which of them it means
 * the machine's zone, differs from engine to engine.
 *
 * Takes the standard's format (ECMA-262, 21.4.1.32), what `toString` and `toUTCString` write, and the common older forms: three numbers or a month's name, then
 * a time, then a zone. NaN for everything else.
 */
export function parseDate(text: string): number {
  const iso = isoForm.exec(text);
  return instantOf(iso === null ? readOld(text) : readIso(iso));
}

interface Parts {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  offsetMinutes: number;
}

const isoForm =
  /^\s*([+-]\d{6}|\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d:?\d\d)?)?\s*$/i;

function readIso(found: RegExpExecArray): Parts | undefined {
  const [, year = "", month = 1, day = 1, hour = 0, minute = 0, second = 0, fraction, zone = "Z"] = found;
  if (year === "-000000") return undefined;
  return {
    year: Number(year),
    month: Number(month),
    day: Number(day),
    hour: Number(hour),
    minute: Number(minute),
    second: Number(second),
    millisecond: millisecondsOf(fraction),
    offsetMinutes: offsetOf(zone),
  };
}

function millisecondsOf(fraction = ""): number {
  return Number(`${fraction}000`.slice(0, 3));
}

/** `+02`, `+0200`, `+02:00`, `Z`. */
function offsetOf(zone: string): number {
  const found = /^([+-])(\d\d):?(\d\d)?$/.exec(zone);
  if (found === null) return 0;
  const [, sign, hours, minutes = 0] = found;
  const offset = Number(hours) * 60 + Number(minutes);
  return Number(minutes) > 59 || offset > 1_439 ? Number.NaN : sign === "-" ? -offset : offset;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/** Hours east of Greenwich (RFC 5322, 4.3). */
const zones = new Map([
  ["gmt", 0],
  ["ut", 0],
  ["utc", 0],
  ["z", 0],
  ["est", -5],
  ["edt", -4],
  ["cst", -6],
  ["cdt", -5],
  ["mst", -7],
  ["mdt", -6],
  ["pst", -8],
  ["pdt", -7],
]);

const token =
  /\s*(?:(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?|(\d{1,6})([/-])(\d{1,2})\6(\d{1,6})|([+-]\d\d(?::?\d\d)?)(?![\d])|(-?\d{1,6})|([a-z]+)\.?|[,-])/iy;

/** The parts read so far. */
interface Read extends Partial<Parts> {
  /** Day and year beside a month's name, in their order. */
  readonly numbers: string[];
  meridiem?: "am" | "pm";
}

function readOld(given: string): Parts | undefined {
  const text = withoutComments(given).trim();
  const read: Read = { numbers: [] };
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const found = token.exec(text);
    if (found === null || !take(read, found)) return undefined;
  }
  return partsOf(read);
}

/** Text in parentheses, which may be nested (RFC 5322, 3.2.2). */
function withoutComments(text: string): string {
  let out = "";
  let depth = 0;
  for (const character of text) {
    if (character === "(") depth += 1;
    else if (character === ")" && depth > 0) depth -= 1;
    else if (depth === 0) out += character;
  }
  return out;
}

/** `false`: no date has it there. */
function take(read: Read, found: RegExpExecArray): boolean {
  const [, hour, minute, second = "0", fraction, first, , middle, last, offset, number, word] = found;
  if (hour !== undefined) {
    if (read.hour !== undefined) return false;
    read.hour = Number(hour);
    read.minute = Number(minute);
    read.second = Number(second);
    read.millisecond = millisecondsOf(fraction);
  } else if (first !== undefined && middle !== undefined && last !== undefined) {
    return takeDate(read, first, middle, last);
  } else if (offset !== undefined && read.hour !== undefined) {
    read.offsetMinutes = offsetOf(offset.length === 3 ? `${offset}00` : offset);
  } else if (offset !== undefined || number !== undefined) {
    // Behind a space it is the sign of a year before the first; elsewhere it parts `1-Jul-2020`.
    const text = offset ?? number ?? "";
    read.numbers.push(/^\s/.test(found[0]) ? text : text.replace("-", ""));
  } else if (word !== undefined) {
    return takeWord(read, word.toLowerCase());
  }
  return true;
}

/** `2020-7-1` or `7/1/2020`. */
function takeDate(read: Read, first: string, middle: string, last: string): boolean {
  if (read.month !== undefined) return false;
  const isYearFirst = first.length > 2;
  read.month = Number(isYearFirst ? middle : first);
  read.day = Number(isYearFirst ? last : middle);
  read.year = yearOf(isYearFirst ? first : last);
  return true;
}

function takeWord(read: Read, word: string): boolean {
  const start = word.slice(0, 3);
  const zone = zones.get(word);
  if (zone !== undefined) read.offsetMinutes = zone * 60;
  else if (word === "am" || word === "pm") read.meridiem = word;
  else if (months.includes(start)) {
    if (read.month !== undefined) return false;
    read.month = months.indexOf(start) + 1;
  } else return word === "t" || days.includes(start);
  return true;
}

function partsOf(read: Read): Parts | undefined {
  const { month, hour = 0, minute = 0, second = 0, millisecond = 0, offsetMinutes = 0, meridiem, numbers } = read;
  if (month === undefined) return undefined;
  const date =
    read.year === undefined ? dateOf(numbers) : numbers.length === 0 ? [read.day ?? 1, read.year] : undefined;
  if (date === undefined || (meridiem !== undefined && (hour < 1 || hour > 12))) return undefined;
  const [day = 1, year = 0] = date;
  const inDay = meridiem === undefined ? hour : (hour % 12) + (meridiem === "pm" ? 12 : 0);
  return { year, month, day, hour: inDay, minute, second, millisecond, offsetMinutes };
}

/** Day and year of the numbers beside a month's name. */
function dateOf([first, second, ...more]: readonly string[]): [number, number] | undefined {
  if (first === undefined || more.length > 0) return undefined;
  if (second === undefined) return first.length > 2 ? [1, yearOf(first)] : undefined;
  return first.length > 2 ? [Number(second), yearOf(first)] : [Number(first), yearOf(second)];
}

/** Of two digits: the one nearest to the turn of the century. */
function yearOf(text: string): number {
  const year = Number(text);
  return text.length > 2 || year < 0 ? year : year + (year < 50 ? 2_000 : 1_900);
}

const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DAY_MS = 86_400_000;
const LAST_MS = 8.64e15;

/** The time value (ECMA-262, 21.4.1.1), or NaN where the calendar has no such day or the day no such time. */
function instantOf(parts: Parts | undefined): number {
  if (parts === undefined) return Number.NaN;
  const { year, month, day, hour, minute, second, millisecond, offsetMinutes } = parts;
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const lastDay = (monthDays[month - 1] ?? 0) + (month === 2 && isLeap ? 1 : 0);
  const inDay = ((hour * 60 + minute) * 60 + second) * 1_000 + millisecond;
  if (day < 1 || day > lastDay || hour > 24 || minute > 59 || second > 59 || inDay > DAY_MS) return Number.NaN;
  const instant = daysTo(year, month, day) * DAY_MS + inDay - offsetMinutes * 60_000;
  return Math.abs(instant) <= LAST_MS ? instant : Number.NaN;
}

/** From 1970-01-01 (days_from_civil, https://howardhinnant.github.io/date_algorithms.html). */
function daysTo(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
  );
}
