import { parseVersion } from "../support/semver.ts";
import { isToolName, versionedId } from "../support/tool-names.ts";
import { type NormalizeReason, normalizeError } from "../json/normalize-error.ts";
import { absorb } from "../support/foreign.ts";
import type { Hash } from "../hash/hash.ts";
import { type JsonValue, parseOwnJson } from "../json/json.ts";
import { type CustomNormalizers, type NormalizationKind, normalize, type Normalized } from "./normalizer.ts";
import { snapshot } from "../json/snapshot.ts";

/*
 * `@keyhole/kernel/normalizers`: normal forms that an embedding program adds. Nothing that a kernel runs imports it.
 */

/** A normal form of one's own. */
export interface NormalizerDefinition {
  /**
   * Its name in a manifest: lower-case letters, digits and `_`, starting with a letter, at most 64
   * characters.
   */
  readonly name: string;
  /** SemVer 2.0.0. Another result for any output is another version: proofs and events name it. */
  readonly version: string;
  /**
   * Pure and synchronous: from a copy of what the tool returned, which fits its contract, to what is hashed and handed on, of the same kind. It runs in the
   * kernel's realm and cannot be stopped: trusted code, like an inline tool.
   */
  readonly normalize: (output: JsonValue | Uint8Array) => unknown;
}

/**
 * Normal forms for `createKernel`. Each output goes through one twice, on two copies. Where it throws, gives two results, or something that has no normal
 * form of the tool's own kind, the call ends as `NOT_NORMALIZABLE`.
 *
 * @throws TypeError for a name or version that is none, and for two of one name: bugs of the embedding program.
 * @example
 * const rounded = {
 *   name: "rounded",
 *   version: "1.0.0",
 *   normalize: (output: unknown) => Math.round(Number(output) * 100) / 100,
 * };
 * const kernel = await createKernel({ normalizers: normalizers([rounded]) });
 */
export function normalizers(definitions: readonly NormalizerDefinition[]): CustomNormalizers {
  const byName = new Map<string, { readonly id: string; readonly apply: Apply }>();
  for (const { name, version, normalize: own } of definitions) {
    const id = versionedId({ name, version });
    if (typeof own !== "function" || !isToolName(name) || !parseVersion(version))
      throw new TypeError(`${id} is not a name@version with a function \`normalize\`.`);
    if (byName.has(name)) throw new TypeError(`There are two normalizers ${name}.`);
    byName.set(name, { id, apply: (kind, output, hash) => applyTwice(own, kind, output, hash) });
  }
  return byName;
}

type Own = NormalizerDefinition["normalize"];
type Apply = (kind: NormalizationKind, output: JsonValue | Uint8Array, hash: Hash) => Normalized;

function applyTwice(own: Own, kind: NormalizationKind, output: JsonValue | Uint8Array, hash: Hash): Normalized {
  const first = applyOnce(own, kind, output, hash);
  if (!first.ok) return first;
  const second = applyOnce(own, kind, output, hash);
  return second.ok && second.hash === first.hash ? first : refused("normalizer-varies");
}

function applyOnce(own: Own, kind: NormalizationKind, output: JsonValue | Uint8Array, hash: Hash): Normalized {
  let made: unknown;
  try {
    made = own(copyOf(output));
  } catch {
    return refused("normalizer-threw");
  }
  // Refused below, as no data; what it rejects with would end a process as unhandled.
  absorb(made);
  if (kind !== "json") return normalize(kind, made, hash);
  const plain = snapshot(made);
  return plain.ok ? normalize(kind, plain.value, hash) : plain;
}

/** A copy of plain data for one run of the normalizer. */
function copyOf(output: JsonValue | Uint8Array): JsonValue | Uint8Array {
  return output instanceof Uint8Array ? new Uint8Array(output) : parseOwnJson(JSON.stringify(output));
}

function refused(reason: NormalizeReason): Normalized {
  return { ok: false, error: normalizeError(reason, []) };
}
