import { fix, replace } from "./fix.ts";

/** The default locale and time zone inside an isolate, on every host. */
const LOCALE = "en-US";
const TIME_ZONE = "UTC";

const constructors = [
  "Collator",
  "DateTimeFormat",
  "DisplayNames",
  "DurationFormat",
  "ListFormat",
  "NumberFormat",
  "PluralRules",
  "RelativeTimeFormat",
  "Segmenter",
] as const;

// Taken before the tool is loaded, which may replace them.
const { apply, construct } = Reflect;
const { create } = Object;
const AnyObject = Object;
const canonical = typeof Intl === "object" ? Intl.getCanonicalLocales : undefined;

/** Gives `Intl`, and every method that asks it, a fixed default locale and time zone instead of the host's. */
export function hardenLocale(global: object): void {
  // An interpreter without it formats in one way only.
  if (typeof Intl !== "object") return;
  for (const name of constructors) hardenConstructor(name);
  hardenDateFormat();
  for (const name of ["toLocaleString", "toLocaleDateString", "toLocaleTimeString"] as const)
    withDefaults(Date.prototype, name, 0, true);
  withDefaults(Number.prototype, "toLocaleString", 0);
  withDefaults(BigInt.prototype, "toLocaleString", 0);
  withDefaults(String.prototype, "localeCompare", 1);
  withDefaults(String.prototype, "toLocaleLowerCase", 0);
  withDefaults(String.prototype, "toLocaleUpperCase", 0);
  hardenTemporalText(global);
}

/** Of dates and times without a zone the formatter takes none; one of a zone brings its own, and takes no other. */
function hardenTemporalText(global: object): void {
  const Temporal: unknown = Reflect.get(global, "Temporal");
  if (typeof Temporal !== "object" || Temporal === null) return;
  for (const name of Object.getOwnPropertyNames(Temporal)) {
    const Type: unknown = Reflect.get(Temporal, name);
    if (typeof Type !== "function" || !Object.hasOwn(Type.prototype as object, "toLocaleString")) continue;
    withDefaults(Type.prototype as object, "toLocaleString", 0, name === "Instant");
  }
}

/**
 * The locales that were asked for, and ours behind them: where the engine has none of those, it never comes to the machine's. Read once, so that they say the same
 * to us and to the engine.
 */
function localesOf(given: unknown): unknown {
  if (given === undefined) return LOCALE;
  const list = canonical!(given as string[]);
  fix(list, list.length, LOCALE);
  return list;
}

/** The options, with a zone. Their other members stay where they are, and the zone is read once. */
function inZone(options: unknown): unknown {
  if (options === null) return options; // The engine refuses it.
  const given = options === undefined ? null : (AnyObject(options) as { readonly timeZone?: unknown });
  const zone = given?.timeZone;
  const own = create(given) as object;
  fix(own, "timeZone", zone === undefined ? TIME_ZONE : zone);
  return own;
}

/** @param index of the argument that names locales; options follow it */
function withDefaults(prototype: object, name: string, index: number, isInZone = false): void {
  const real = Reflect.get(prototype, name) as (...given: unknown[]) => unknown;
  fix(prototype, name, function (this: unknown, first: unknown, second: unknown, third: unknown): unknown {
    if (index === 1) return apply(real, this, [first, localesOf(second), third]);
    return apply(real, this, [localesOf(first), isInZone ? inZone(second) : second]);
  });
}

interface Constructor {
  new (...given: never[]): object;
  readonly prototype: object;
}

function hardenConstructor(name: (typeof constructors)[number]): void {
  const found = Reflect.get(Intl, name) as Constructor | undefined;
  if (found === undefined) return; // Not every engine has every one.
  const Real = found;
  const isDated = name === "DateTimeFormat";
  function Hardened(this: unknown, locales: unknown, options: unknown): unknown {
    // The engine takes some without `new`, and refuses the others.
    const isCalled = new.target === undefined;
    if (isCalled && !isDated && name !== "NumberFormat" && name !== "Collator")
      throw new TypeError(`Intl.${name} needs new`);
    return construct(
      Real,
      [localesOf(locales), isDated ? inZone(options) : options] as never[],
      new.target ?? Hardened,
    );
  }
  fix(Hardened, "supportedLocalesOf", Reflect.get(Real, "supportedLocalesOf"));
  fix(Hardened, "length", 0);
  replace(Intl, name, Real, Hardened);
}

/** Formatting without an argument means now; the hardened `Date` says what that is. */
function hardenDateFormat(): void {
  const prototype = Intl.DateTimeFormat.prototype;
  const { now } = Date;
  const format = Object.getOwnPropertyDescriptor(prototype, "format")?.get;
  if (format !== undefined) {
    Object.defineProperty(prototype, "format", {
      get(this: Intl.DateTimeFormat) {
        const bound = apply(format, this, []) as Intl.DateTimeFormat["format"];
        return (date?: Date | number) => bound(date === undefined ? now() : date);
      },
      configurable: false,
    });
  }
  const parts = prototype.formatToParts;
  fix(prototype, "formatToParts", function (this: Intl.DateTimeFormat, date?: Date | number) {
    return apply(parts, this, [date === undefined ? now() : date]);
  });
}
