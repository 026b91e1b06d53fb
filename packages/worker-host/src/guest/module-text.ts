/** What `import.meta` has is the module's address, new in each isolate, and a function that resolves others against it. */
const EMPTY_META = "for(const key of Reflect.ownKeys(import.meta))delete import.meta[key];";

/** The tool's module as a shell loads it: on the same lines, and with an empty `import.meta`. */
export function moduleText(code: string): string {
  const head = /^#![^\n\r\u2028\u2029]*/.exec(code)?.[0] ?? "";
  return head === "" ? EMPTY_META + code : `${head}\n${EMPTY_META}${code.slice(head.length).trimStart()}`;
}
