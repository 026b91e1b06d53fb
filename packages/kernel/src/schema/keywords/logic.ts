import { at, type Context, hasKeywords, invalid, type Keywords, listed, type Place } from "../context.ts";
import { isCompound, isObject } from "../equal.ts";
import { ALWAYS, IF, NEVER, Node, NOT, ONE, PAY, SOME, TAG } from "../node.ts";

/** The schema at the end of a chain of plain `$ref`s, to look at, not to compile. */
export function behindRefs(from: Place, context: Context): Place {
  let place = from;
  for (let hops = 0; hops < 8 && hasKeywords(place); hops++) {
    const located = context.locate(place);
    const { schema } = located;
    if (typeof schema["$ref"] !== "string" || Object.keys(schema).length > 1) return located;
    place = context.follow(located, "$ref");
  }
  return place;
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

/** The primitive values that a branch allows for a property that it requires. */
function tags(branch: Keywords, key: string): readonly unknown[] {
  const { schema } = at(at(branch, "properties"), key);
  if (!isObject(schema) || schema["$ref"] !== undefined) return [];
  const list = Object.hasOwn(schema, "const") ? [schema["const"]] : schema["enum"];
  return Array.isArray(list) && !list.some(isCompound) ? list : [];
}

/**
 * The property whose value picks the branch: each branch is of type object, requires it, and allows values for it that
 * no other branch allows. Undefined when there is none.
 */
export function discriminator(
  branches: readonly Place[],
  context: Context,
): { readonly key: string; readonly byTag: ReadonlyMap<unknown, number> } | undefined {
  const resolved = branches.map((branch) => behindRefs(branch, context)).filter(hasKeywords);
  const required = ({ schema }: Keywords): unknown => schema["type"] === "object" && schema["required"];
  const keys = resolved.map(required).filter(isTexts);
  const [first] = keys;
  if (first === undefined || keys.length < 2 || keys.length < branches.length) return undefined;
  for (const key of first) {
    const byTag = new Map<unknown, number>();
    const fits = resolved.every((branch, index) => {
      const own = tags(branch, key);
      return (
        own.length > 0 && keys[index]?.includes(key) && own.every((tag) => !byTag.has(tag) && byTag.set(tag, index))
      );
    });
    if (fits) return { key, byTag };
  }
  return undefined;
}

/** `anyOf` and `oneOf`; where a discriminator keeps the branches apart, one look instead of a try of each branch. */
function alternatives(list: readonly Place[], exactly: boolean, context: Context): Node {
  const nodes = list.map(context.inPlace);
  const possible = nodes.filter((each) => each !== NEVER);
  if (possible.length === 0) return NEVER;
  const found = discriminator(list, context);
  const node = new Node(found === undefined ? (exactly ? ONE : SOME) : TAG);
  node.list = possible;
  if (found !== undefined) {
    node.key = found.key;
    node.byTag = new Map([...found.byTag].map(([tag, index]) => [tag, nodes[index] ?? NEVER]));
  }
  return node;
}

/** `allOf`, `anyOf`, `oneOf`, `not`, `if`. */
export function logic(place: Keywords, context: Context): Node[] {
  const { schema } = place;
  const nodes: Node[] = [];
  const add = (op: number, parts: Partial<Node>): void => {
    nodes.push(Object.assign(new Node(op), parts));
  };
  const part = (keyword: string): Node => context.inPlace(at(place, keyword));
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    if (schema[keyword] === undefined) continue;
    const list = listed(place, keyword);
    if (list.length === 0) throw invalid(place, keyword, "a non-empty array of schemas");
    if (keyword !== "allOf") nodes.push(alternatives(list, keyword === "oneOf", context));
    else {
      if (list.length > 1) add(PAY, { least: list.length });
      nodes.push(...list.map(context.inPlace));
    }
  }
  if (schema["not"] !== undefined) {
    const not = part("not");
    if (not === ALWAYS) nodes.push(NEVER);
    else add(NOT, { a: not });
  }
  if (schema["if"] !== undefined) add(IF, { a: part("if"), b: part("then"), c: part("else") });
  return nodes;
}
