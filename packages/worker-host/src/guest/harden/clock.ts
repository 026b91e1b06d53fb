import { fix } from "./fix.ts";
import { parseDate } from "./parse-date.ts";

// Taken before the tool is loaded, which may replace them.
const { construct } = Reflect;
const RealDate = Date;

/**
 * Makes every clock of a realm logical and every date UTC: `Date` and `Event.prototype.timeStamp`.
 * `now` gives milliseconds since the epoch. The text of a date then depends neither on the time nor
 * on the place of the isolate.
 */
export function hardenClock(global: object, now: () => number): void {
  const prototype = RealDate.prototype;
  for (const part of localParts) {
    alias(prototype, `get${part}`, `getUTC${part}`);
    if (part !== "Day") alias(prototype, `set${part}`, `setUTC${part}`);
  }
  hardenText(prototype);

  function HardenedDate(this: unknown, ...parts: unknown[]): Date | string {
    if (new.target === undefined) return new RealDate(now()).toString();
    return construct(RealDate, [instant(parts, now)], new.target) as Date;
  }
  const methods = { now, UTC: RealDate.UTC, parse: (text: unknown) => parseDate(String(text)) };
  for (const [name, method] of Object.entries(methods)) fix(HardenedDate, name, method);
  fix(HardenedDate, "name", "Date");
  fix(HardenedDate, "length", 7);
  fix(HardenedDate, "prototype", prototype);
  fix(prototype, "constructor", HardenedDate);
  fix(global, "Date", HardenedDate);

  const Event: unknown = Reflect.get(global, "Event");
  if (typeof Event === "function") {
    Object.defineProperty(Event.prototype, "timeStamp", { get: () => 0, configurable: false });
  }
}

const localParts = ["Date", "Day", "FullYear", "Hours", "Milliseconds", "Minutes", "Month", "Seconds"] as const;

const utc = Date.UTC;

function alias(prototype: object, name: string, utcName: string): void {
  fix(prototype, name, Reflect.get(prototype, utcName));
}

/** The time value that `new Date(...parts)` stands for (ECMA-262, 21.4.2.1), local time being UTC. */
function instant(parts: readonly unknown[], now: () => number): number {
  if (parts.length === 0) return now();
  if (parts.length > 1) return utc(...(parts.map(Number) as [number, number]));
  const [only] = parts;
  if (only instanceof Date) return only.getTime();
  const primitive = typeof only === "object" && only !== null ? toPrimitive(only) : only;
  return typeof primitive === "string" ? parseDate(primitive) : Number(primitive);
}

function toPrimitive(value: object): unknown {
  // Adding "" would prefer numbers; a template asks for a string first. Only `default` is right for both.
  const convert: unknown = Reflect.get(value, Symbol.toPrimitive);
  if (typeof convert === "function") return Reflect.apply(convert, value, ["default"]);
  const plain: unknown = value.valueOf();
  return typeof plain === "object" ? String(value) : plain;
}

const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const pad = (value: number, width = 2): string => String(value).padStart(width, "0");

/** Dates as text (21.4.4.41), which otherwise name the host's zone. */
function hardenText(prototype: Date): void {
  const dateText = (date: Date): string => {
    const year = date.getUTCFullYear();
    const sign = year < 0 ? "-" : "";
    return `${days[date.getUTCDay()]} ${months[date.getUTCMonth()]} ${pad(date.getUTCDate())} ${sign}${pad(Math.abs(year), 4)}`;
  };
  const timeText = (date: Date): string =>
    `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())} GMT+0000 (Coordinated Universal Time)`;
  const invalid = "Invalid Date";
  const asText = (write: (date: Date) => string) =>
    function (this: Date): string {
      return Number.isNaN(this.getTime()) ? invalid : write(this);
    };
  fix(
    prototype,
    "toString",
    asText((date) => `${dateText(date)} ${timeText(date)}`),
  );
  fix(prototype, "toDateString", asText(dateText));
  fix(prototype, "toTimeString", asText(timeText));
  fix(prototype, "getTimezoneOffset", function (this: Date): number {
    return Number.isNaN(this.getTime()) ? Number.NaN : 0;
  });
  fix(prototype, "getYear", function (this: Date): number {
    return this.getUTCFullYear() - 1900;
  });
  for (const name of ["setYear", "toTemporalInstant"]) Reflect.deleteProperty(prototype, name);
}
