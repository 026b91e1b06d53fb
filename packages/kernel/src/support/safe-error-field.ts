/** Reads one string property of a thrown value. Returns `undefined` for another type, and for a getter that throws. */
export function safeErrorField(thrown: unknown, by: "name" | "message" | "code"): string | undefined {
  try {
    const text: unknown = Reflect.get(thrown as object, by);
    return typeof text === "string" ? text : undefined;
  } catch {
    return undefined;
  }
}
