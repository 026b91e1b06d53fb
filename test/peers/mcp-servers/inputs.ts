import { randomFrom } from "../../support/random.ts";

type Random = () => number;

/** Values of each type that JSON has, at the borders of what schemas say. */
const anything: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e21,
  "",
  "a",
  "12",
  "2026-01-01T00:00:00Z",
  "a@b.example",
  "https://example.com/",
  [],
  [1],
  ["a"],
  {},
  { a: 1 },
];

/** Inputs near to a schema: half of them as it says, half of them with one place changed. */
export function inputsFor(schema: unknown, seed: number, count: number): readonly unknown[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, (_, at) => {
    const value = valueOf(schema, schema, random, 0);
    return at % 2 === 0 ? value : mutated(value, random);
  });
}

function pick<Item>(items: readonly Item[], random: Random): Item {
  return items[Math.floor(random() * items.length)]!;
}

function valueOf(foreign: unknown, root: unknown, random: Random, depth: number): unknown {
  const schema = Object(foreign) as Record<string, never>;
  const { $ref: reference } = schema as { $ref?: string };
  if (reference !== undefined) return depth > 6 ? {} : valueOf(atPointer(root, reference), root, random, depth + 1);
  if ("const" in schema) return schema["const"];
  const { enum: values, anyOf, oneOf, allOf } = schema as Record<string, readonly unknown[] | undefined>;
  if (values) return pick(values, random);
  const branches = anyOf ?? oneOf;
  if (branches) return valueOf(pick(branches, random), root, random, depth + 1);
  if (allOf) return Object.assign({}, ...allOf.map((each) => valueOf(each, root, random, depth + 1)));
  return plainOf(schema, root, random, depth);
}

function plainOf(schema: Record<string, unknown>, root: unknown, random: Random, depth: number): unknown {
  const { type, minimum, minLength, minItems, items, properties, required, format } = schema as {
    type?: string | readonly string[];
    minimum?: number;
    minLength?: number;
    minItems?: number;
    items?: unknown;
    properties?: Record<string, unknown>;
    required?: readonly string[];
    format?: string;
  };
  switch (Array.isArray(type) ? pick(type, random) : type) {
    case "string":
      if (format === "date-time") return "2026-01-01T00:00:00Z";
      return format === "uri"
        ? "https://example.com/"
        : pick(["notes", "a b", "é", "12:30"], random).padEnd(minLength ?? 0, "x");
    case "integer":
      return (minimum ?? 0) + Math.floor(random() * 3);
    case "number":
      return (minimum ?? 0) + pick([0, 0.5, 3], random);
    case "boolean":
      return random() < 0.5;
    case "null":
      return null;
    case "array":
      return Array.from({ length: (minItems ?? 0) + Math.floor(random() * 3) }, () =>
        valueOf(items, root, random, depth + 1),
      );
    case "object":
      return Object.fromEntries(
        Object.entries(properties ?? {})
          .filter(([name]) => required?.includes(name) === true || random() < 0.5)
          .map(([name, inner]) => [name, valueOf(inner, root, random, depth + 1)]),
      );
    default:
      return pick(anything, random);
  }
}

function atPointer(root: unknown, reference: string): unknown {
  return reference
    .split("/")
    .slice(1)
    .reduce<unknown>((at, token) => Object(at)[token], root);
}

/** One place of the value is another value, is gone, or is new. */
function mutated(value: unknown, random: Random): unknown {
  if (typeof value !== "object" || value === null || random() < 0.1) return pick(anything, random);
  if (Array.isArray(value)) {
    if (value.length === 0 || random() < 0.3) return [...value, pick(anything, random)];
    const place = Math.floor(random() * value.length);
    return value.map((each: unknown, at) => (at === place ? mutated(each, random) : each));
  }
  const names = Object.keys(value);
  if (names.length === 0 || random() < 0.2)
    return { ...value, [pick(["extra", "path", "id"], random)]: pick(anything, random) };
  const name = pick(names, random);
  const { [name]: inner, ...rest } = value as Record<string, unknown>;
  return random() < 0.3 ? rest : { ...rest, [name]: mutated(inner, random) };
}
