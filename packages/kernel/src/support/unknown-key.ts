/** The first member of an object that has none of the known names. */
export function unknownKey(given: object, known: readonly string[]): string | undefined {
  return Object.keys(given).find((each) => !known.includes(each));
}
