/** A text of at most so many characters; anything else is empty. */
export function textOf(value: unknown, characters: number): string {
  return typeof value === "string" ? value.slice(0, characters).toWellFormed() : "";
}

/** A member of a foreign record. */
export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
