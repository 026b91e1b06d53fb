import { spend } from "../budget.ts";
import { type Context, count, type Keywords, text } from "../context.ts";
import { LENGTH, MAX, Node, TEXT } from "../node.ts";
import type { Check } from "../types.ts";
import { content } from "./content.ts";

export function strings(place: Keywords, context: Context): Node | undefined {
  const { dialect } = place.resource;
  const { options } = context;
  const asserts = options.formats !== "annotate";
  const pattern = text(place, "pattern");
  const lo = count(place, "minLength");
  const hi = count(place, "maxLength");
  const format = text(place, "format");
  const ofFormat = asserts || dialect.formatAssertion === true ? formatTest(format, place, context) : undefined;
  const ofContent = dialect.year === 7 && asserts ? content(place.schema) : undefined;
  const test: Check | undefined =
    ofFormat !== undefined && ofContent !== undefined
      ? (value) => ofFormat(value) && ofContent(value)
      : (ofFormat ?? ofContent);
  if (pattern === undefined && test === undefined && lo === undefined && hi === undefined) return undefined;
  const node = new Node(pattern === undefined && test === undefined ? LENGTH : TEXT);
  node.lo = lo ?? 0;
  node.hi = hi ?? MAX;
  node.pattern = pattern === undefined ? undefined : context.pattern(pattern, `${place.path}/pattern`);
  node.test = test;
  return node;
}

function formatTest(name: string | undefined, { path }: Keywords, { limits, options }: Context): Check | undefined {
  if (name === undefined) return undefined;
  const { formatOf, idna } = options;
  const test = formatOf(name, `${path}/format`);
  return (
    test &&
    ((value) => {
      if (typeof value !== "string") return true;
      const { length } = value;
      if (length > limits.formatLength) return false;
      spend(4 + (length >> 1));
      return test(value, idna);
    })
  );
}
