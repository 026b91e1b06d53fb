const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The number that two ASCII digits write, or NaN. */
function two(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 48;
  const ones = text.charCodeAt(at + 1) - 48;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NaN;
}

function dateAt(text: string): boolean {
  const century = two(text, 0);
  const year = two(text, 2);
  const month = two(text, 5);
  const day = two(text, 8);
  if (!(century + year >= 0 && month >= 1 && month <= 12 && day >= 1) || text[4] !== "-" || text[7] !== "-")
    return false;
  if (day > (DAYS[month - 1] as number)) return false;
  return month !== 2 || day < 29 || (year === 0 ? century % 4 === 0 : year % 4 === 0);
}

/** RFC 3339 section 5.6, `full-date`. */
export const date = (text: string): boolean => text.length === 10 && dateAt(text);

function timeFrom(text: string, start: number): boolean {
  const hour = two(text, start);
  const minute = two(text, start + 3);
  const second = two(text, start + 6);
  if (!(hour <= 23 && minute <= 59 && second <= 60) || text[start + 2] !== ":" || text[start + 5] !== ":") return false;
  let at = start + 8;
  if (text[at] === ".") {
    const first = ++at;
    while (text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) at++;
    if (at === first) return false;
  }
  let offset = 0;
  const sign = text[at];
  if (sign === "Z" || sign === "z") at++;
  else {
    const hours = two(text, at + 1);
    const minutes = two(text, at + 4);
    if ((sign !== "+" && sign !== "-") || !(hours <= 23 && minutes <= 59) || text[at + 3] !== ":") return false;
    offset = (hours * 60 + minutes) * (sign === "+" ? 1 : -1);
    at += 6;
  }
  // A leap second is the last of a UTC day, wherever the clock on the wall stands.
  return at === text.length && (second < 60 || (hour * 60 + minute - offset + 1440) % 1440 === 1439);
}

/** RFC 3339 section 5.6, `full-time`. */
export const time = (text: string): boolean => timeFrom(text, 0);

/** RFC 3339 section 5.6, `date-time`. */
export const dateTime = (text: string): boolean =>
  (text[10] === "T" || text[10] === "t") && dateAt(text) && timeFrom(text, 11);

const DURATION =
  /^P(?:\d+W|(?=[\dT])(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/;

/** RFC 3339 appendix A, `duration`. */
export const duration = (text: string): boolean => DURATION.test(text);
