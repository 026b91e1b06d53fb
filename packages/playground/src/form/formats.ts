/** Inputs of the browser that are better than a text, for formats of JSON Schema (RFC 3339, RFC 3986, RFC 5321). */
export type InputType = "text" | "date" | "time" | "datetime-local" | "url" | "email";

const types: ReadonlyMap<string, InputType> = new Map([
  ["date", "date"],
  ["time", "time"],
  ["date-time", "datetime-local"],
  ["uri", "url"],
  ["email", "email"],
]);

/** The values that each input can hold; other text, such as a time with another offset, stays a text. */
const held: Partial<Record<InputType, RegExp>> = {
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d:\d\dZ$/,
  "datetime-local": /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
};

export function inputTypeOf(format: string | undefined, text: string): InputType {
  const type = types.get(format ?? "") ?? "text";
  return text === "" || (held[type]?.test(text) ?? true) ? type : "text";
}

/** The input's text of a value. */
export function writeTyped(type: InputType, text: string): string {
  return type === "time" || type === "datetime-local" ? text.replace(/Z$/, "") : text;
}

/** The value of the input's text: a time of the form is one in UTC. */
export function readTyped(type: InputType, text: string): string {
  if (type !== "time" && type !== "datetime-local") return text;
  return `${text}${/\d\d:\d\d:\d\d/.test(text) ? "" : ":00"}Z`;
}
