import { spend } from "../budget.ts";
import { check } from "../check.ts";
import { at, type Context, count, type Keywords, named, names } from "../context.ts";
import { has, isObject } from "../equal.ts";
import { OBJECTS } from "../json-type.ts";
import { hasAll } from "../members.ts";
import {
  ALL,
  ANY,
  type Default,
  END,
  MAP,
  MAX,
  Member,
  Node,
  NONE,
  type PatternMember,
  RECORD,
  testNode,
  TYPES,
} from "../node.ts";

/** The members that the schema names; those that are required and not named meet `extra`, where no pattern can apply. */
function membersOf(place: Keywords, extra: Node, isMap: boolean, context: Context): Partial<Node> {
  const needed = new Set(names(place, "required"));
  const members: Member[] = [];
  const defaults: Default[] = [];
  const byName = new Map<string, Member>();
  const add = (name: string, node: Node): void => {
    const member = new Member(name, node, members.length + 1, needed.delete(name) ? 1 : 0);
    members.push(member);
    byName.set(name, member);
  };
  for (const [name, property] of named(place, "properties")) {
    const node = context.child(property);
    add(name, node);
    const { schema } = property;
    if (name !== "__proto__" && isObject(schema) && Object.hasOwn(schema, "default")) {
      const value = schema["default"];
      const steps = 4 + (JSON.stringify(value).length >> 1);
      const each = { name, value, node, steps, fits: false };
      defaults.push(each);
      context.defaults?.push(each);
    }
  }
  if (!isMap) for (const name of needed) add(name, extra);
  return {
    need: members.reduce((sum, { need }) => sum + need, 0),
    members: [...members, END],
    byName,
    names: isMap ? [...needed] : [],
    defaults,
  };
}

function recordOrMap(place: Keywords, context: Context): Node | undefined {
  const extra = context.child(at(place, "additionalProperties"));
  const patterns = named(place, "patternProperties").map(([source, entry]): PatternMember => ({
    pattern: context.pattern(source, entry.path),
    node: context.child(entry),
  }));
  const nameNode = context.child(at(place, "propertyNames"));
  const node = new Node(RECORD);
  node.lo = count(place, "minProperties") ?? 0;
  node.hi = count(place, "maxProperties") ?? MAX;
  const asksMore = patterns.length > 0 || nameNode.op !== ANY || node.lo > 0 || node.hi !== MAX;
  Object.assign(node, membersOf(place, extra, asksMore, context));
  if (asksMore || (node.members.length === 1 && extra.op !== ANY && extra.op !== NONE)) node.op = MAP;
  node.extra = extra;
  node.patterns = patterns;
  node.c = nameNode.op === ANY ? undefined : nameNode;
  node.fillers = node.members.filter((each) => each.node.fills && each.key !== "__proto__");
  node.fills =
    node.defaults.length > 0 ||
    extra.fills ||
    patterns.some((each) => each.node.fills) ||
    node.members.some((each) => each.node.fills);
  const asksNothing =
    node.op === RECORD &&
    extra.op === ANY &&
    node.need === 0 &&
    node.members.every((each) => each === END || each.op === ANY);
  return asksNothing && !node.fills ? undefined : node;
}

/** `dependentRequired`, `dependentSchemas`, and `dependencies`, which is both. */
function dependents(place: Keywords, context: Context): Node[] {
  return ["dependentRequired", "dependentSchemas", "dependencies"].flatMap((keyword) =>
    named(place, keyword).map(([name, entry]): Node => {
      if (keyword === "dependentRequired" || (keyword === "dependencies" && Array.isArray(entry.schema))) {
        const needs = names(at(place, keyword) as Keywords, name) as readonly string[];
        return testNode((value) => (spend(1), !isObject(value) || !has(value, name) || hasAll(value, needs)));
      }
      const node = context.inPlace(entry);
      return testNode((value) => (spend(1), !isObject(value) || !has(value, name) || check(node, value)));
    }),
  );
}

/** Undefined where the schema demands nothing of objects. */
export function objects(place: Keywords, context: Context): Node | undefined {
  const record = recordOrMap(place, context);
  const more = dependents(place, context);
  if (more.length === 0) return record;
  const isObjectNode = new Node(TYPES);
  isObjectNode.mask = OBJECTS;
  const node = new Node(ALL);
  node.list = [record ?? isObjectNode, ...more];
  node.a = record;
  node.fills = record?.fills === true;
  return node;
}
