import {
  type Hash,
  type JsonValue,
  normalize,
  readVersionedId,
  type ToolSummary,
  verifyProofDigest,
} from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";
import { membersOf, parseRange, parseVersion } from "@keyhole/kernel/foreign";
import { isProof } from "@keyhole/kernel/policy";
import type { Evidence } from "./evidence.ts";
import { failed, type Outcome, skipped } from "./outcome.ts";

/** Digest of manifest and code, as the list of tools has it. */
export function isPackageHash({ hash, codeHash, manifest }: ToolSummary): boolean {
  return hashOf(hash)?.jsonOrFault({ codeHash, manifest: manifest as unknown as JsonValue }) === hash;
}

/** The result is of the tool that was asked for, in that version and of that package. */
export function toolFault({ tool, result, asked }: Evidence): Outcome {
  const { name, version } = readVersionedId(result.tool);
  if (!result.ok && result.tool === asked.name) return undefined; // No tool was found.
  if (asked.name !== undefined && name !== asked.name) return failed("The answer is of another tool.");
  if (asked.version !== undefined && !isInRange(version, asked.version))
    return failed("The answer is of another version of the tool.");
  if (tool === undefined) return result.ok ? failed("It lists no such tool.") : skipped("It lists no such tool.");
  if (result.tool !== tool.id) return failed("The answer is of another tool.");
  if (asked.isPackage?.(tool) === false) return failed("The answer is of another package.");
  return isPackageHash(tool) ? undefined : failed("The hash of the tool is not that of its manifest.");
}

function isInRange(text: string, range: string): boolean {
  const version = parseVersion(text);
  return version !== undefined && parseRange(range)?.(version) === true;
}

/** The output has the hash of the result. The log has the digest of an error. */
export function dataFault(evidence: Evidence): Outcome {
  const { tool, result, hasStream } = evidence;
  if (!result.ok || tool === undefined) return undefined;
  const { data, hash, reference } = result;
  const by = hashOf(hash);
  if (by === undefined) return failed("The hash of the result names no known algorithm.");
  const { kind } = tool.manifest.output;
  if (reference !== undefined)
    return data === null
      ? skipped("The output is behind a reference, and did not come with the result.")
      : failed("It has a reference beside the output.");
  if (kind === "stream") {
    const { byteLength } = Object(data) as { readonly byteLength?: unknown };
    if (!isReference(data, evidence, byteLength)) return failed("The hash is not that of the stream.");
    return hasStream ? undefined : skipped("The bytes of the stream did not come to this client.");
  }
  const isOfKind = kind === "binary" ? data instanceof Uint8Array : kind === "json" || typeof data === "string";
  if (!isOfKind) return failed(`The result is not ${kind}, which the tool gives.`);
  return isNormalForm(data, evidence, by) ? undefined : failed("The hash is not that of the result.");
}

export function rawFault(evidence: Evidence): Outcome {
  const { tool, result, asked } = evidence;
  if (!result.ok || result.raw === undefined) return undefined;
  if (asked.raw !== true) return failed("It has a raw output that this client did not ask for.");
  const by = hashOf(result.hash);
  if (by === undefined || hasOwnForm(tool)) return undefined;
  return isNormalForm(result.raw, evidence, by) ? undefined : failed("The raw output is another one.");
}

/** Whether a program of the edge makes the normal form. */
export function hasOwnForm(tool: Evidence["tool"]): boolean {
  return tool?.manifest.normalization?.custom !== undefined;
}

export function referenceFault(evidence: Evidence): Outcome {
  const { result, asked } = evidence;
  if (!result.ok || result.reference === undefined) return undefined;
  if (asked.references !== true) return failed("It has a reference in place of the output.");
  return isReference(result.reference, evidence) ? undefined : failed("The reference is to another output.");
}

/** Also in a normal form of the edge's own program: the kernel hashes the outcome in the built-in form. */
function isNormalForm(data: unknown, { tool, result }: Evidence, by: Hash): boolean {
  const kind = tool?.manifest.output.kind;
  if (!result.ok || kind === undefined || kind === "stream") return false;
  const normal = normalize(kind, data, by);
  return normal.ok && normal.hash === result.hash;
}

/** @param byteLength where no event has it */
function isReference(foreign: unknown, { tool, result, end }: Evidence, byteLength?: unknown): boolean {
  if (!result.ok) return false;
  const recorded = end?.type === "tool.completed" ? end.payload.outputBytes : byteLength;
  const { mediaType } = tool?.manifest.output ?? {};
  const own = membersOf(foreign);
  const isWhole = Object.keys(own).length === (mediaType === undefined ? 2 : 3);
  return isWhole && own["digest"] === result.hash && own["byteLength"] === recorded && own["mediaType"] === mediaType;
}

export function proofFault({ tool, inputs, result, own, isFromLog }: Evidence): Outcome {
  const { proof } = result;
  if (proof === undefined) {
    const isDecided = isFromLog !== true && own.some(({ type }) => type === "policy.decided");
    return result.ok || isDecided ? failed("There is no proof.") : skipped("The call ended without a proof.");
  }
  if (!isProof(proof)) return failed("The proof does not have the form of a proof.");
  const by = hashOf(proof.hash)!;
  const sealed = verifyProofDigest(proof, by);
  if (!sealed.ok) return failed(`The proof has changed. ${sealed.reason}`);
  if (proof.callId !== result.callId) return failed("The proof is of another call.");
  if (proof.tool !== result.tool || (tool && proof.toolHash !== tool.hash))
    return failed("The proof is of another tool.");
  if (tool && !inputs.some((input) => by.jsonOrFault(input) === proof.inputHash))
    return failed("The proof is for another input than the one that this client sent.");
  return result.ok && proof.decision !== "allow" && proof.enforced
    ? failed(`The proof says ${proof.decision}, and yet there is a result.`)
    : undefined;
}
