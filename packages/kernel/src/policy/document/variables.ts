import { type JsonValue, isJsonArray } from "../../json/json.ts";
import type { Setup } from "../../result.ts";
import { invalidPolicy } from "./invalid.ts";

/** Values for `${NAME}` in the texts of a policy, given by the program that loads it. */
export type PolicyVariables = Readonly<Record<string, string>>;

/** The name in `${NAME}`, as a part of a pattern. */
export const variableName = "[A-Za-z_][A-Za-z0-9_]{0,63}";
const reference = /* @__PURE__ */ new RegExp(`\\$\\{(${variableName})\\}`, "g");

/**
 * Replaces every `${NAME}` in the texts of a document, not in its keys. Digest and proof cover the
 * result.
 */
export function resolveVariables(document: JsonValue, variables: PolicyVariables): Setup<JsonValue> {
  let fault: Setup<never> | undefined;
  const resolve = (value: JsonValue, path: string): JsonValue => {
    if (typeof value === "string") {
      return value.replaceAll(reference, (text: string, name: string) => {
        const given = Object.hasOwn(variables, name) ? variables[name] : undefined;
        if (typeof given !== "string")
          fault ??= invalidPolicy(
            path,
            `There is no variable ${text}.`,
            "Pass the policy's variables where you load the policy.",
          );
        // A pattern's wildcards are the author's alone.
        else if (given === "" || given.includes("*") || !given.isWellFormed())
          fault ??= invalidPolicy(path, `The value of ${text} is empty, or contains a wildcard.`);
        return given ?? text;
      });
    }
    if (isJsonArray(value)) return value.map((each, at) => resolve(each, `${path}/${at}`));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([key, each]) => [key, resolve(each, `${path}/${key}`)] as const);
    return Object.fromEntries(entries);
  };
  const value = resolve(document, "");
  return fault ?? { ok: true, value };
}
