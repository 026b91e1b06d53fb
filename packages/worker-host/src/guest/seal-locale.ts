/** What a missing locale and a missing time zone mean inside an isolate, wherever it runs. */
const LOCALE = "en-US";
const TIME_ZONE = "UTC";

const constructors = [
  "Collator",
  "DateTimeFormat",
  "DurationFormat",
  "ListFormat",
  "NumberFormat",
  "PluralRules",
  "RelativeTimeFormat",
  "Segmenter",
] as const;

/** Gives `Intl`, and every method that asks it, a fixed default locale and time zone instead of the host's. */
export function sealLocale(): void {
  // An interpreter without it formats in one way only.
  if (typeof Intl !== "object") return;
  for (const name of constructors) sealConstructor(name);
  sealDateFormat();
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"] as const) {
    const real = Date.prototype[name] as (this: Date, locales: unknown, options: unknown) => string;
    fix(Date.prototype, name, function (this: Date, locales: unknown = LOCALE, options?: object): string {
      return Reflect.apply(real, this, [locales, inZone(options)]);
    });
  }
  withDefaultLocale(Number.prototype, "toLocaleString", 0);
  withDefaultLocale(BigInt.prototype, "toLocaleString", 0);
  withDefaultLocale(String.prototype, "localeCompare", 1);
  withDefaultLocale(String.prototype, "toLocaleLowerCase", 0);
  withDefaultLocale(String.prototype, "toLocaleUpperCase", 0);
}

function fix(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: false, enumerable: false, configurable: false });
}

function inZone(options: unknown): object {
  const given = (options ?? {}) as { readonly timeZone?: unknown };
  return given.timeZone === undefined ? { ...given, timeZone: TIME_ZONE } : given;
}

function withDefaultLocale(prototype: object, name: string, index: number): void {
  const real = Reflect.get(prototype, name) as (...given: unknown[]) => unknown;
  fix(prototype, name, function (this: unknown, ...given: unknown[]): unknown {
    // The engine's own check of the receiver comes first either way: nothing is read from the arguments here.
    while (given.length <= index) given.push(undefined);
    given[index] ??= LOCALE;
    return Reflect.apply(real, this, given);
  });
}

interface Constructor {
  new (...given: never[]): object;
  readonly prototype: object;
}

function sealConstructor(name: (typeof constructors)[number]): void {
  const found = Reflect.get(Intl, name) as Constructor | undefined;
  if (found === undefined) return; // Not every engine has every one.
  const Real = found;
  const dated = name === "DateTimeFormat";
  function Sealed(this: unknown, locales: unknown = LOCALE, options?: unknown): unknown {
    return Reflect.construct(Real, [locales, dated ? inZone(options) : options], new.target ?? Sealed);
  }
  fix(Sealed, "name", name);
  fix(Sealed, "prototype", Real.prototype);
  fix(Sealed, "supportedLocalesOf", Reflect.get(Real, "supportedLocalesOf"));
  fix(Real.prototype, "constructor", Sealed);
  fix(Intl, name, Sealed);
}

/** Formatting without an argument means now; the sealed `Date` says what that is. */
function sealDateFormat(): void {
  const prototype = Intl.DateTimeFormat.prototype;
  const format = Object.getOwnPropertyDescriptor(prototype, "format")?.get;
  if (format !== undefined) {
    Object.defineProperty(prototype, "format", {
      get(this: Intl.DateTimeFormat) {
        const bound = Reflect.apply(format, this, []) as Intl.DateTimeFormat["format"];
        return (date?: Date | number) => bound(date ?? Date.now());
      },
      configurable: false,
    });
  }
  const parts = prototype.formatToParts;
  fix(prototype, "formatToParts", function (this: Intl.DateTimeFormat, date?: Date | number) {
    return Reflect.apply(parts, this, [date ?? Date.now()]);
  });
}
