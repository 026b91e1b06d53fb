import { type JsonObject, type JsonValue, pointerOf, type PolicyDocument, type PolicyRule } from "@keyhole/kernel";
import { suggestedGrants } from "@keyhole/kernel/policy";
import { readPolicy } from "../policy/edit.ts";
import type { ActiveRun } from "../run/run-state.ts";
import type { Decided } from "./ladder.ts";

/** A change of the policy that gives this call another answer, and no more than this call needs. */
export interface Remedy {
  readonly title: string;
  /** The other requests that it allows, or refuses. */
  readonly reach: string;
  readonly member: "grants" | "rules";
  readonly added: JsonValue;
  /** The policy with it; `undefined` where the one in force has it already. */
  readonly document: PolicyDocument | undefined;
}

/** @param policy the one in force */
export function remediesOf(run: ActiveRun, decided: Decided, policy: JsonValue | undefined): readonly Remedy[] {
  const read = readPolicy(JSON.stringify(policy ?? null));
  if (!read.ok) return [];
  return [...grantRemedies(run, read.document), ...ruleRemedies(run, decided, read.document)];
}

function grantRemedies(run: ActiveRun, document: PolicyDocument): readonly Remedy[] {
  if (run.phase !== "done" || run.result.ok) return [];
  const { operatorHint } = run.result.error;
  // An edge keeps the hint from a caller that is not an operator.
  const grants = typeof operatorHint === "string" ? suggestedGrants(operatorHint) : [];
  return grants.flatMap((grant) =>
    remedy(document, "grants", grant, {
      title: "Grant what it asked for",
      reach: "The narrowest grant: this target, and nothing else.",
    }),
  );
}

/** Beyond these a rule about the very arguments is no longer one that a person can read. */
const mostArguments = 6;
const mostUnits = 400;

/** A rule lifts what the posture asks; it never lifts a denial, a mode or what the tool itself demands. */
function ruleRemedies(run: ActiveRun, { question }: Decided, document: PolicyDocument): readonly Remedy[] {
  if (question?.reasonCode !== "posture" || !isNarrow(run.input)) return [];
  const { name } = run.tool.manifest;
  const conditions = Object.entries(run.input).map(([member, equals]) => ({ at: pointerOf([member]), equals }));
  const content = {
    effect: "allow",
    when: { tool: [name], arguments: conditions },
    reason: "A person allowed this call in the playground.",
  } as const;
  const rules = document.rules ?? [];
  const [known] = rules.filter(({ id: _, ...rest }) => JSON.stringify(rest) === JSON.stringify(content));
  const rule = { id: known?.id ?? freeId(rules, `allow-${name.replaceAll("_", "-")}`), ...content };
  return remedy(document, "rules", rule, {
    title: "Allow these arguments without a question",
    reach: "Every caller of this tool, with these arguments alone.",
  });
}

function isNarrow(input: JsonValue): input is JsonObject {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return false;
  const count = Object.keys(input).length;
  return count > 0 && count <= mostArguments && JSON.stringify(input).length <= mostUnits;
}

function freeId(rules: readonly PolicyRule[], wanted: string): string {
  const taken = new Set(rules.map(({ id }) => id));
  for (let count = 1; ; count++) {
    const id = count === 1 ? wanted : `${wanted}-${count}`;
    if (!taken.has(id)) return id;
  }
}

/** Empty where the kernel would refuse the policy with it. */
function remedy(
  document: PolicyDocument,
  member: Remedy["member"],
  added: JsonValue,
  words: Pick<Remedy, "title" | "reach">,
): readonly Remedy[] {
  const before: readonly unknown[] = document[member] ?? [];
  const text = JSON.stringify(added);
  if (before.some((each) => JSON.stringify(each) === text)) return [{ ...words, member, added, document: undefined }];
  const read = readPolicy(JSON.stringify({ ...document, [member]: [...before, added] }));
  return read.ok ? [{ ...words, member, added, document: read.document }] : [];
}
