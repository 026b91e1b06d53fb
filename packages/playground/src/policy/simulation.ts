import {
  type Decision,
  type JsonValue,
  policy,
  type Policy,
  type PolicyDocument,
  type ToolManifest,
} from "@keyhole/kernel";
import { type RecordedCall, simulate } from "@keyhole/kernel/policy";

/** A call of the session, as far as a policy sees it. */
export interface SessionCall extends RecordedCall {
  /** Of the session. */
  readonly id: string;
  readonly manifest: ToolManifest;
  readonly input: JsonValue;
  /** The input in one line. */
  readonly what: string;
}

export interface SimulatedRow {
  readonly call: SessionCall;
  readonly before: Decision;
  readonly after: Decision;
  /** Why, under the draft. */
  readonly reason: string;
  /** Rules of the draft that decided. */
  readonly rules: readonly string[];
}

/** The decision about each call under both policies, by the kernel itself; the latest call first. */
export function compareOver(before: Policy, after: Policy, calls: readonly SessionCall[]): readonly SimulatedRow[] {
  const ordered = calls.toSorted((a, b) => Date.parse(a.time) - Date.parse(b.time));
  const [old, fresh] = [simulate(before, ordered), simulate(after, ordered)];
  return ordered
    .flatMap((call, index): readonly SimulatedRow[] => {
      const [past, present] = [old[index], fresh[index]];
      if (past === undefined || present === undefined) return [];
      return [{ call, before: past.after, after: present.after, reason: present.reason, rules: present.rules }];
    })
    .toReversed();
}

/** Beyond these, counting what each line is good for would make the page slow. */
const mostCounted = 200;

/** How many calls each rule decided, by id, and how many need each grant: without it, another answer. */
export interface Coverage {
  readonly rules: ReadonlyMap<string, number>;
  /** By index; `undefined` where there are too many grants to count. */
  readonly grants: readonly number[] | undefined;
}

export function coverageOf(document: PolicyDocument, rows: readonly SimulatedRow[]): Coverage {
  const rules = new Map((document.rules ?? []).map(({ id }) => [id, 0]));
  for (const row of rows) for (const id of row.rules) rules.set(id, (rules.get(id) ?? 0) + 1);
  const { grants = [] } = document;
  if (grants.length > mostCounted) return { rules, grants: undefined };
  return { rules, grants: grants.map((grant, index) => needOf(document, index, grant.tool, rows)) };
}

function needOf(document: PolicyDocument, index: number, tool: string, rows: readonly SimulatedRow[]): number {
  const own = rows.filter(({ call, after }) => after !== "deny" && (tool === "*" || call.manifest.name === tool));
  if (own.length === 0) return 0;
  // Examples of rules say nothing of this.
  const without = policy({
    ...document,
    grants: (document.grants ?? []).filter((_, at) => at !== index),
    rules: (document.rules ?? []).map(({ examples: _, ...rule }) => rule),
  });
  if (!without.ok) return 0;
  const calls = own.map(({ call }) => call).toReversed();
  return simulate(without.value, calls).filter(({ after }) => after === "deny").length;
}
