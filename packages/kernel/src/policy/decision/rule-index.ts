import type { JsonValue } from "../../json/json.ts";
import { Folds, isScalar } from "./folds.ts";
import { keyOf, kindOf, type TextKind } from "./plain-text.ts";
import { isPlain } from "../../capability/matching/plain.ts";
import { compilePointer, type ReadPointer } from "../../json/pointer.ts";
import type { DecisionInput } from "./condition.ts";
import type { RuleCondition } from "../document/policy.ts";
import type { LoadedRule } from "./rule.ts";
import { hasOwn } from "../../support/guards.ts";

/**
 * Rules by what they name, so that a decision looks at those only that could match. A tree with one
 * level per name. At each level a rule sits under every name that it lists, or under `any`, and no
 * deeper than its last name. A look-up therefore visits at most two branches per level. Rules of
 * one node that demand a value of an argument sit under that value, as what forbids reads it.
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
  readonly at: string;
  readonly read: ReadPointer;
  /** By the kind and the key of the value. */
  readonly rules: Map<TextKind, Map<string, LoadedRule[]>>;
}

/**
 * Large policies have a node for nearly every rule, so a node is small: absent parts are
 * `undefined`.
 */
interface Node {
  any: Node | undefined;
  named: Map<string, Node> | undefined;
  rules: LoadedRule[] | undefined;
  groups: ArgumentGroup[] | undefined;
}

const newNode = (): Node => ({ any: undefined, named: undefined, rules: undefined, groups: undefined });

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
    place(root, levels.slice(0, levels.findLastIndex((names) => names !== undefined) + 1), 0, rule, places);
  }
  // Rules that name nothing are candidates of every call: copying their list was a fifth of a decision.
  if (root.rules !== undefined && root.groups === undefined && root.named === undefined && root.any === undefined) {
    const { rules: all } = root;
    return { candidates: () => all };
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
  if (level === levels.length) return placeHere(node, rule, places);
  const names = levels[level];
  if (!names) return place((node.any ??= newNode()), levels, level + 1, rule, places);
  for (const name of names) {
    const named = (node.named ??= new Map<string, Node>());
    const child = named.get(name) ?? newNode();
    named.set(name, child);
    place(child, levels, level + 1, rule, places);
  }
}

function placeHere(node: Node, rule: LoadedRule, places: number): void {
  for (const condition of rule.rule.when.arguments ?? []) {
    const wanted: readonly JsonValue[] | undefined = hasOwn(condition, "equals")
      ? [condition.equals]
      : hasOwn(condition, "in")
        ? condition.in
        : undefined;
    if (!wanted?.every(isScalar) || wanted.length * places > placesPerRule) continue;
    const { rules } = groupOf(node, condition.at);
    for (const each of wanted) {
      const kind = kindOf(each);
      const ofKind = rules.get(kind) ?? new Map<string, LoadedRule[]>();
      rules.set(kind, ofKind);
      const key = keyOf(each, kind);
      const known = ofKind.get(key);
      if (!known) ofKind.set(key, [rule]);
      else if (known.at(-1) !== rule) known.push(rule);
    }
    return;
  }
  (node.rules ??= []).push(rule);
}

function groupOf(node: Node, at: string): ArgumentGroup {
  const groups = (node.groups ??= []);
  const known = groups.find((group) => group.at === at);
  if (known) return known;
  const group: ArgumentGroup = { at, read: compilePointer(at), rules: new Map() };
  groups.push(group);
  return group;
}

function collect(node: Node, level: number, input: DecisionInput, found: LoadedRule[]): void {
  const { rules, groups, named, any } = node;
  if (rules !== undefined) for (const rule of rules) found.push(rule);
  if (groups !== undefined) for (const group of groups) collectGroup(group, input, found);
  if (named !== undefined) {
    const name = dimensions[level]?.read(input);
    const child = name === undefined ? undefined : named.get(name);
    if (child !== undefined) collect(child, level + 1, input, found);
  }
  if (any !== undefined) collect(any, level + 1, input, found);
}

function collectGroup({ read, rules }: ArgumentGroup, input: DecisionInput, found: LoadedRule[]): void {
  const value = read(input.input);
  if (value === undefined) return;
  const folds = Folds.of(input);
  const seen = rules.size > 1 ? new Set<LoadedRule>() : undefined;
  for (const [kind, ofKind] of rules) {
    const plain = isScalar(value) ? folds.plain(value, kind) : undefined;
    // Each rule says itself that the value is not plain.
    const lists = plain && isPlain(plain) ? [ofKind.get(plain.key) ?? []] : ofKind.values();
    for (const list of lists)
      for (const rule of list) {
        if (seen?.has(rule)) continue;
        seen?.add(rule);
        found.push(rule);
      }
  }
}
