/*
 * The names of tools, of normalizers and of their versions. Only this file writes and reads `name@version`.
 */

/** As a schema says it: a lower-case letter, then up to 63 lower-case letters, digits and `_`. */
export const toolNamePattern = "^[a-z][a-z0-9_]{0,63}$";
const toolName = /* @__PURE__ */ new RegExp(toolNamePattern);

/** Whether a tool, or a normalizer, can have this name: `http_fetch`. */
export function isToolName(text: string): boolean {
  return toolName.test(text);
}

/** As a schema says it: like the name of a tool, with `-` in place of `_`. */
export const categoryPattern = "^[a-z][a-z0-9-]{0,63}$";
const category = /* @__PURE__ */ new RegExp(categoryPattern);

export function isCategory(text: string): boolean {
  return category.test(text);
}

/** The id of a tool or a normalizer in events, proofs and results: `http_fetch@1.2.0`. */
export function versionedId({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${name}@${version}`;
}

/** The parts of {@link versionedId}. Without an `@` the text is the name and `version` is empty: a caller can ask for no version. */
export function readVersionedId(id: string): { readonly name: string; readonly version: string } {
  const at = id.indexOf("@");
  return at < 0 ? { name: id, version: "" } : { name: id.slice(0, at), version: id.slice(at + 1) };
}
