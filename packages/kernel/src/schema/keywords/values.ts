import { invalid, type Keywords } from "../context.ts";
import { isCompound } from "../equal.ts";
import { CHOICE, DEEP, NEVER, Node, VALUES } from "../node.ts";

/** A table finds more than these faster. */
const FEW = 8;

function oneOfThese(allowed: readonly unknown[]): Node {
  if (allowed.length === 0) return NEVER;
  const isChoice = allowed.length <= FEW && allowed.every((each) => typeof each === "string");
  const node = new Node(isChoice ? CHOICE : allowed.some(isCompound) ? DEEP : VALUES);
  node.values = allowed;
  node.set = new Set(node.op === VALUES ? allowed : []);
  return node;
}

const ONE_OR_MORE = "an array of one or more values";

/** `enum` and `const`. */
export function values(place: Keywords): Node[] {
  const { schema } = place;
  const lists = Object.hasOwn(schema, "const") ? [[schema["const"]]] : [];
  const allowed = schema["enum"];
  if (allowed !== undefined) {
    if (!Array.isArray(allowed)) throw invalid(place, "enum", ONE_OR_MORE);
    // Draft 7 forbids it, later drafts advise against it.
    if (allowed.length === 0 && place.resource.dialect.year === 7) throw invalid(place, "enum", ONE_OR_MORE);
    lists.push(allowed);
  }
  return lists.map(oneOfThese);
}
