/** The members of a message, read once; none of what is no object. */
export function membersOf(foreign: unknown): Readonly<Record<string, unknown>> {
  return typeof foreign === "object" && foreign !== null ? { ...foreign } : {};
}
