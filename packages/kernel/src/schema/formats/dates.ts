const DATE = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])";
const TIME = "(?:[01]\\d|2[0-3]):[0-5]\\d:(?:[0-5]\\d|60)(?:\\.\\d+)?(?:[Zz]|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";
const FULL_DATE = new RegExp(`^${DATE}$`);
const FULL_TIME = new RegExp(`^${TIME}$`);
const DATE_TIME = new RegExp(`^${DATE}[Tt]${TIME}$`);

/** The number that two digits write. */
const two = (text: string, at: number): number => text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528;

function dayExists(text: string): boolean {
  const month = two(text, 5);
  const day = two(text, 8);
  if (month !== 2) return day <= 30 + ((month + (month >> 3)) & 1);
  const year = two(text, 2);
  return day < 29 || (day === 29 && (year === 0 ? two(text, 0) : year) % 4 === 0);
}

/** A leap second is the last of a UTC day, wherever the clock on the wall stands. */
function secondExists(text: string, start: number): boolean {
  if (two(text, start + 6) < 60) return true;
  const end = text.length;
  const sign = text[end - 6];
  const offset =
    sign === "+" || sign === "-" ? (two(text, end - 5) * 60 + two(text, end - 2)) * (sign === "+" ? 1 : -1) : 0;
  return (two(text, start) * 60 + two(text, start + 3) - offset + 1440) % 1440 === 1439;
}

/** RFC 3339 section 5.6, `full-date`. */
export const date = (text: string): boolean => FULL_DATE.test(text) && dayExists(text);

/** RFC 3339 section 5.6, `full-time`. */
export const time = (text: string): boolean => FULL_TIME.test(text) && secondExists(text, 0);

/** RFC 3339 section 5.6, `date-time`. */
export const dateTime = (text: string): boolean => DATE_TIME.test(text) && dayExists(text) && secondExists(text, 11);

const DURATION =
  /^P(?:\d+W|(?=[\dT])(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)?(?:T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S))?)$/;

/** RFC 3339 appendix A, `duration`. */
export const duration = (text: string): boolean => DURATION.test(text);
