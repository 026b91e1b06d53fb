import { isObject } from "../equal.ts";

const MAX_QUOTED = 60;

/** A value in JSON, cut short. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= MAX_QUOTED ? text : `${text.slice(0, MAX_QUOTED - 1)}…`;
}

export const listed = (phrases: readonly string[], word = "or"): string =>
  phrases.length < 2 ? (phrases[0] ?? "nothing") : `${phrases.slice(0, -1).join(", ")} ${word} ${phrases.at(-1)}`;

/** Up to eight values. */
export function choices(values: readonly unknown[], word?: string): string {
  const shown = values.slice(0, 8).map(quote);
  return listed(values.length > 8 ? [...shown, `${values.length - 8} more`] : shown, word);
}

export const items = (count: number): string => `${count} item${count === 1 ? "" : "s"}`;

/** A value as a short noun phrase; `hidden` keeps all but its type back. */
export function received(value: unknown, hidden: boolean): string {
  if (Array.isArray(value)) return `an array of ${items(value.length)}`;
  if (isObject(value)) return "an object";
  if (value === null || typeof value === "boolean") return hidden ? "a hidden value" : String(value);
  return hidden ? `a hidden ${typeof value}` : `the ${typeof value} ${quote(value)}`;
}

const article = (type: unknown): string =>
  type === "null" ? "null" : `${/^[iao]/.test(String(type)) ? "an" : "a"} ${String(type)}`;

/** Where the value of the keyword goes there is a `#`. */
const EXPECTED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    minimum: "a number of at least #",
    maximum: "a number of at most #",
    exclusiveMinimum: "a number above #",
    exclusiveMaximum: "a number below #",
    multipleOf: "a multiple of #",
    minLength: "a string of # or more characters",
    maxLength: "a string of # or fewer characters",
    pattern: "a string that matches the pattern #",
    format: "a string in the format #",
    minItems: "an array of # or more items",
    maxItems: "an array of # or fewer items",
    minProperties: "an object of # or more properties",
    maxProperties: "an object of # or fewer properties",
    not: "a value that does not conform to the schema under not",
  }),
);

/** The demand of a keyword, as a noun phrase. */
export function expected(keyword: string, value: unknown): string {
  if (keyword === "type") return listed([value].flat().map(article));
  if (keyword === "const") return quote(value);
  if (keyword === "enum" && Array.isArray(value))
    return value.length === 1 ? quote(value[0]) : `one of ${choices(value)}`;
  return (EXPECTED.get(keyword) ?? `a value that conforms to ${keyword}`).replace("#", () =>
    String(value).slice(0, 100),
  );
}

const EXAMPLES: ReadonlyMap<unknown, string> = new Map(
  Object.entries({
    "date-time": "2026-01-31T09:30:00Z",
    date: "2026-01-31",
    time: "09:30:00Z",
    duration: "P1DT12H",
    email: "name@example.com",
    uri: "https://example.com/path",
    uuid: "123e4567-e89b-12d3-a456-426614174000",
  }),
);

export function formatHint(format: unknown): string | undefined {
  const example = EXAMPLES.get(format);
  return example === undefined ? undefined : `For example ${example}.`;
}
