import { builtInFamilies } from "./capability/families/index.ts";
import type { Families } from "./capability/registry.ts";
import { blake3Hash } from "./hash/blake3-hash.ts";
import type { Hash } from "./hash/hash.ts";
import { type NormalizationKind, normalize as normalizeBy, type Normalized } from "./normalize/normalizer.ts";
import { checkPolicy } from "./policy/document/load.ts";
import type { Policy } from "./policy/document/make.ts";
import type { PolicyVariables } from "./policy/document/variables.ts";
import type { Setup } from "./result.ts";
import { checkParts, takePackage, takeTool } from "./tool/check-package.ts";
import { packageHash as packageHashBy } from "./tool/hash.ts";
import type { ToolManifest } from "./tool/manifest.ts";
import type { RegisteredTool } from "./tool/package.ts";

/*
 * Public functions that take BLAKE3 where they are given no algorithm, and the built-in families where they are given none. The parts of a kernel name neither: a kernel on
 * SHA-256 does not carry BLAKE3, and one with a single broker only the families of that one.
 */

/**
 * Checks a foreign document whole and makes a policy of it. `variables` are the values of `${NAME}` in its texts.
 *
 * @example
 * const loaded = loadPolicy(JSON.parse(text), { HOME: "users/ada" });
 * if (!loaded.ok) console.error(loaded.error.path, loaded.error.message);
 *
 * @param by The algorithm of its digests. Default BLAKE3.
 * @param families The kinds that it can name. Default: {@link builtInFamilies}.
 */
export function loadPolicy(
  foreign: unknown,
  variables: PolicyVariables = {},
  by: Hash = blake3Hash,
  families: Families = builtInFamilies,
): Setup<Policy> {
  return checkPolicy(foreign, variables, by, families);
}

/**
 * Reads a package once, as foreign data, and checks all of it. A package's own digest may be in BLAKE3 or in the given algorithm; the tool's
 * is in the given one. A tool object is refused with `UNTRUSTED_TOOL`: its code would run in this realm.
 *
 * @param by Default BLAKE3.
 */
export function checkPackage(
  foreign: unknown,
  by: Hash = blake3Hash,
  families: Families = builtInFamilies,
): Setup<RegisteredTool> {
  return checkParts(takePackage(foreign).parts, by, [blake3Hash], families);
}

/**
 * Reads a tool object once and checks all of it. Its code runs in the kernel's own realm, with all that this realm can do.
 *
 * @param by Default BLAKE3.
 */
export function checkTrustedTool(
  foreign: unknown,
  by: Hash = blake3Hash,
  families: Families = builtInFamilies,
): Setup<RegisteredTool> {
  return checkParts(takeTool(foreign).parts, by, [], families);
}

/**
 * The digest that pins a package: over the canonical JSON of `{ codeHash, manifest }`. The digest
 * of the code stands for the code, so a verifier can check a manifest without the code. `undefined`
 * for a value without a canonical form.
 *
 * @param by Default BLAKE3.
 */
export function packageHash(
  manifest: ToolManifest,
  code: string | Uint8Array | null,
  by: Hash = blake3Hash,
): string | undefined {
  return packageHashBy(manifest, code, by);
}

/**
 * The one form of an output that the kernel keeps and hashes, equal on every host.
 *
 * - `json`: canonical JSON (RFC 8785).
 * - `text`: Unicode NFC, and `\n` for `\r\n` and `\r`. Characters that are newer than an engine's Unicode version keep their form.
 * - `binary`: a copy of the bytes of a `Uint8Array`, of any realm.
 *
 * The function refuses bad values, and never throws. A value of the same realm that is foreign is taken by `snapshot` first.
 *
 * @example
 * const normal = normalize("text", "a\r\nb");
 * if (normal.ok) normal.hash; // hashText("a\nb")
 *
 * @param by Default BLAKE3.
 */
export function normalize(kind: NormalizationKind, value: unknown, by: Hash = blake3Hash): Normalized {
  return normalizeBy(kind, value, by);
}
