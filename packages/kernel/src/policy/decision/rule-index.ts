import type { JsonValue } from "../../json/json.ts";
import { Folds, foldsOf } from "./folds.ts";
import { compilePointer, type ReadPointer } from "../../json/pointer.ts";
import type { DecisionInput } from "./condition.ts";
import type { RuleCondition } from "../document/policy.ts";
import type { LoadedRule } from "./rule.ts";

/**
 * Rules by what they name, so that a decision looks at those only that could match. A tree with one level per name; at each level a rule sits under
 * every name that it lists, or under `any`. A look-up therefore visits at most two branches per level. In the leaves rules that demand a value of
 * an argument sit under that value, as what forbids reads it.
 */
export interface RuleIndex {
  /** Every rule that could match, none twice, in no particular order. */
  candidates(input: DecisionInput): readonly LoadedRule[];
}

const dimensions = [
  { list: ({ tool }) => tool, read: ({ manifest }) => manifest.name },
  { list: ({ caller }) => caller, read: ({ caller }) => caller },
  { list: ({ session }) => session, read: ({ sessionId }) => sessionId },
  { list: ({ category }) => category, read: ({ manifest }) => manifest.category },
] as const satisfies readonly {
  list: (when: RuleCondition) => readonly string[] | undefined;
  read: (input: DecisionInput) => string | undefined;
}[];

/** Places that one rule may take; longer lists go under `any` and are tested like every other condition. */
const placesPerRule = 256;

interface ArgumentGroup {
  readonly read: ReadPointer;
  readonly rules: Map<string, LoadedRule[]>;
}

interface Node {
  any?: Node;
  readonly named: Map<string, Node>;
  readonly rules: LoadedRule[];
  readonly byArgument: Map<string, ArgumentGroup>;
}

const newNode = (): Node => ({ named: new Map(), rules: [], byArgument: new Map() });

export function indexRules(rules: readonly LoadedRule[]): RuleIndex {
  const root = newNode();
  // By id: so are those of one place, and a decision names them in this order.
  for (const rule of rules.toSorted((a, b) => (a.rule.id < b.rule.id ? -1 : 1))) {
    const { when } = rule.rule;
    let places = 1;
    const levels = dimensions.map(({ list }) => {
      const names = list(when);
      if (names === undefined || places * names.length > placesPerRule) return undefined;
      places *= names.length;
      return names;
    });
    place(root, levels, 0, rule, places);
  }
  return {
    candidates: (input) => {
      const found: LoadedRule[] = [];
      collect(root, 0, input, found);
      return found;
    },
  };
}

function place(
  node: Node,
  levels: readonly (readonly string[] | undefined)[],
  level: number,
  rule: LoadedRule,
  places: number,
): void {
  if (level === levels.length) return placeInLeaf(node, rule, places);
  const names = levels[level];
  if (!names) return place((node.any ??= newNode()), levels, level + 1, rule, places);
  for (const name of names) {
    const child = node.named.get(name) ?? newNode();
    node.named.set(name, child);
    place(child, levels, level + 1, rule, places);
  }
}

function placeInLeaf(node: Node, rule: LoadedRule, places: number): void {
  for (const condition of rule.rule.when.arguments ?? []) {
    const wanted: readonly JsonValue[] | undefined =
      "equals" in condition ? [condition.equals] : "in" in condition ? condition.in : undefined;
    if (!wanted || wanted.length * places > placesPerRule) continue;
    const group: ArgumentGroup = node.byArgument.get(condition.at) ?? {
      read: compilePointer(condition.at),
      rules: new Map<string, LoadedRule[]>(),
    };
    node.byArgument.set(condition.at, group);
    for (const key of new Set(wanted.flatMap(foldsOf))) {
      const known = group.rules.get(key);
      if (known) known.push(rule);
      else group.rules.set(key, [rule]);
    }
    return;
  }
  node.rules.push(rule);
}

function collect(node: Node, level: number, input: DecisionInput, found: LoadedRule[]): void {
  const dimension = dimensions[level];
  if (!dimension) {
    for (const rule of node.rules) found.push(rule);
    for (const { read, rules } of node.byArgument.values()) {
      const value = read(input.input);
      if (value === undefined) continue;
      // Where nobody can say what the value means, each rule says so itself.
      const folds = Folds.of(input).valueReadings(value) ?? [...rules.keys()];
      for (const rule of new Set(folds.flatMap((fold) => rules.get(fold) ?? []))) found.push(rule);
    }
    return;
  }
  const name = dimension.read(input);
  const named = name === undefined ? undefined : node.named.get(name);
  if (named) collect(named, level + 1, input, found);
  if (node.any) collect(node.any, level + 1, input, found);
}
