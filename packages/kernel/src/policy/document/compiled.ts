import { bringFamily } from "../../capability/next-steps.ts";
import type { Families } from "../../capability/registry.ts";
import { type Digest, type Hash, isDigest } from "../../hash/hash.ts";
import type { JsonObject, JsonValue } from "../../json/json.ts";
import type { Setup } from "../../result.ts";
import { type LoadRules, noRules } from "../decision/rule-set.ts";
import { invalidPolicy } from "./invalid.ts";
import { makePolicy, type Policy } from "./make.ts";
import type { PolicyDocument } from "./policy.ts";

const format = "keyhole.compiled-policy.v1";

/**
 * A policy that `compilePolicy` checked ahead: plain JSON, for a file or a bundle. A kernel takes it without the code that checks documents.
 */
export interface CompiledPolicy {
  readonly format: typeof format;
  /** Kinds of capability that the document names, sorted. The kernel has to know each. */
  readonly kinds: readonly string[];
  /**
   * The members for requests: `when.host` of a rule, `tools.paths` and `sizes.fileBytes` of a tool,
   * sorted. A kind of the kernel has to bring each.
   */
  readonly members: readonly string[];
  /** With its variables filled in. */
  readonly document: PolicyDocument;
  /** Of all members above: the kernel refuses an edited document. */
  readonly digest: Digest;
}

type Parts = Omit<CompiledPolicy, "digest">;

const digestOf = (parts: Parts, by: Hash): Digest => by.json(parts);

export function compiled({ families, document }: Policy, by: Hash): CompiledPolicy {
  const members = membersIn(document);
  const parts: Parts = {
    format,
    kinds: kindsIn(document),
    members: [...families.members].filter((each) => members.has(each)).toSorted(),
    document,
  };
  return { ...parts, digest: digestOf(parts, by) };
}

function kindsIn({ grants = [], rules = [] }: PolicyDocument): readonly string[] {
  const granted = grants.map(({ capability }) => capability.kind);
  const ruled = rules.flatMap(({ when: { capability = [], effects = [] } }) => [...capability, ...effects]);
  return [...new Set<string>([...granted, ...ruled])].toSorted();
}

/** All of them, whether a kind brings them or every policy has them. */
function membersIn({ rules = [], tools = {} }: PolicyDocument): ReadonlySet<string> {
  const under = (prefix: string, value: object): readonly string[] =>
    Object.keys(value).map((name) => `${prefix}.${name}`);
  const ofTools = Object.values(tools).flatMap((tool) => [
    ...under("tools", tool),
    ...under("sizes", tool.sizes ?? {}),
  ]);
  return new Set([...rules.flatMap(({ when }) => under("when", when)), ...ofTools]);
}

/** Whether foreign data, taken by `snapshot`, says of itself that it is compiled. A document has no such member. */
export function saysCompiled(plain: JsonValue): plain is JsonObject {
  return typeof plain === "object" && plain !== null && Object.hasOwn(plain, "format");
}

const recompile = "Compile the document again with `compilePolicy`, with the families and the hash of this kernel.";

/**
 * Takes what {@link saysCompiled} names: the digest shows that it left `compilePolicy` as it is now.
 *
 * @param loadRules Without it the kernel refuses a policy with rules: a kernel that cannot try a rule cannot keep to it.
 */
export function loadCompiled(
  plain: JsonObject,
  by: Hash,
  families: Families,
  loadRules: LoadRules | undefined,
): Setup<Policy> {
  const fault = compiledFault(plain, by, families);
  if (fault) return invalidPolicy(fault.path, fault.message, fault.hint ?? recompile);
  // Its digest is that of a result of `compilePolicy`.
  const { document } = plain as unknown as CompiledPolicy;
  const ruled = loadRules ? undefined : placeOfRules(document);
  if (ruled !== undefined)
    return invalidPolicy(ruled, "This kernel tries no rules.", "Add policyRules() to `extensions`.");
  return { ok: true, value: makePolicy(document, by, families, loadRules?.(document, by, families) ?? noRules) };
}

/** The rate of a tool is a rule, too. */
function placeOfRules({ rules = [], tools = {} }: PolicyDocument): string | undefined {
  if (rules.length > 0) return "/rules";
  const rated = Object.entries(tools).find(([, { rate }]) => rate !== undefined);
  return rated && `/tools/${rated[0]}/rate`;
}

interface Fault {
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

function compiledFault({ digest, ...parts }: JsonObject, by: Hash, families: Families): Fault | undefined {
  if (parts.format !== format)
    return { path: "/format", message: `Got a policy of another format, expected ${format}.` };
  if (!isDigest(digest)) return { path: "/digest", message: "Got a compiled policy without a digest." };
  if (!digest.startsWith(`${by.algorithm}:`))
    return { path: "/digest", message: `Got a digest in another algorithm, expected ${by.algorithm}.` };
  if (by.json(parts) !== digest) return { path: "/digest", message: "The policy has changed since its compilation." };
  // The digest is one of `compilePolicy`.
  const { kinds, members } = parts as unknown as Parts;
  const unknown = kinds.find((kind) => !families.get(kind));
  if (unknown !== undefined)
    return {
      path: "/kinds",
      message: `The policy names ${unknown}, a kind that this kernel does not know.`,
      hint: bringFamily,
    };
  // Without its kinds a rule about requests would be one about calls.
  const known = families.members;
  const missing = members.find((each) => !known.has(each));
  if (missing === undefined) return undefined;
  const message = `The policy has \`${missing}\`, which no kind of this kernel brings.`;
  return { path: "/members", message, hint: bringFamily };
}
