import type { Families } from "../../capability/registry.ts";
import { type Digest, type Hash, isDigest } from "../../hash/hash.ts";
import type { JsonObject, JsonValue } from "../../json/json.ts";
import type { Setup } from "../../result.ts";
import { invalidPolicy } from "./invalid.ts";
import { makePolicy, type Policy } from "./make.ts";
import type { PolicyDocument } from "./policy.ts";

const format = "keyhole.compiled-policy.v1";

/**
 * A policy that `compilePolicy` checked ahead: plain JSON, for a file or a bundle. A kernel takes it without the code that checks documents.
 */
export interface CompiledPolicy {
  readonly format: typeof format;
  /** Kinds of capability that it was checked against. The kernel has to know each. */
  readonly kinds: readonly string[];
  /** With its variables filled in. */
  readonly document: PolicyDocument;
  /** Of the three members above: an edited document is refused. */
  readonly digest: Digest;
}

type Parts = Omit<CompiledPolicy, "digest">;

const digestOf = (parts: Parts, by: Hash): Digest => by.json(parts as unknown as JsonObject);

export function compiled({ families, document }: Policy, by: Hash): CompiledPolicy {
  const parts: Parts = { format, kinds: families.kinds, document };
  return { ...parts, digest: digestOf(parts, by) };
}

/** Whether foreign data, taken by `snapshot`, says of itself that it is compiled. A document has no such member. */
export function saysCompiled(plain: JsonValue): plain is JsonObject {
  return typeof plain === "object" && plain !== null && Object.hasOwn(plain, "format");
}

const recompile = "Compile the document again with `compilePolicy`, with the families and the hash of this kernel.";

/** Takes what {@link saysCompiled} names: the digest shows that it left `compilePolicy` as it is now. */
export function loadCompiled(plain: JsonObject, by: Hash, families: Families): Setup<Policy> {
  const fault = compiledFault(plain, by, families);
  if (fault) return invalidPolicy(fault.path, fault.message, recompile);
  // Its digest is that of a result of `compilePolicy`.
  const { document } = plain as unknown as CompiledPolicy;
  return { ok: true, value: makePolicy(document, by, families) };
}

interface Fault {
  readonly path: string;
  readonly message: string;
}

function compiledFault({ digest, ...parts }: JsonObject, by: Hash, families: Families): Fault | undefined {
  if (parts.format !== format)
    return { path: "/format", message: `Got a policy of another format, expected ${format}.` };
  if (!isDigest(digest)) return { path: "/digest", message: "Got a compiled policy without a digest." };
  if (!digest.startsWith(`${by.algorithm}:`))
    return { path: "/digest", message: `Got a digest in another algorithm, expected ${by.algorithm}.` };
  if (by.json(parts) !== digest) return { path: "/digest", message: "The policy was changed after it was compiled." };
  // The digest is one of `compilePolicy`.
  const { kinds } = parts as unknown as Parts;
  const unknown = kinds.find((kind) => !families.get(kind));
  if (unknown === undefined) return undefined;
  return { path: "/kinds", message: `The policy was compiled for ${unknown}, a kind that this kernel does not know.` };
}
