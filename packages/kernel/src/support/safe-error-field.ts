/** A text that something says of itself which was thrown, and may be anything: what is no text, or throws when it is read, is not there. */
export function safeErrorField(thrown: unknown, by: "name" | "message" | "code"): string | undefined {
  try {
    const text: unknown = Reflect.get(thrown as object, by);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}
