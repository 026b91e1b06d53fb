import { at, type Context, count, invalid, type Keywords, listed, type Place } from "../context.ts";
import { ANY, ARRAY, MAX, Node } from "../node.ts";

/** The schemas by position, and the one of the rest, in this dialect. */
export function tuple(place: Keywords): { readonly prefix: readonly Place[]; readonly rest: Place } {
  const items = at(place, "items");
  const isList = Array.isArray(items.schema);
  if (place.resource.dialect.year !== 2020)
    return isList
      ? { prefix: listed(place, "items"), rest: at(place, "additionalItems") }
      : { prefix: [], rest: items };
  if (isList) throw invalid(place, "items", "a schema (2020-12 writes a list of schemas as prefixItems)");
  return { prefix: listed(place, "prefixItems"), rest: items };
}

export function arrays(place: Keywords, context: Context): Node | undefined {
  const { schema } = place;
  const node = new Node(ARRAY);
  node.lo = count(place, "minItems") ?? 0;
  node.hi = count(place, "maxItems") ?? MAX;
  const { prefix, rest } = tuple(place);
  node.list = prefix.map(context.child);
  const item = (node.a = context.child(rest));
  node.fills = item.fills || node.list.some(({ fills }) => fills);
  node.unique = schema["uniqueItems"] === true;
  if (schema["contains"] !== undefined) {
    node.b = context.child(at(place, "contains"));
    node.least = count(place, "minContains") ?? 1;
    node.most = count(place, "maxContains") ?? MAX;
  }
  const asksNothing = item.op === ANY && node.list.length === 0 && node.b === undefined && !node.unique;
  return asksNothing && node.lo === 0 && node.hi === MAX ? undefined : node;
}
