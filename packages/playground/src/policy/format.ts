import { visible } from "@keyhole/kernel";

const width = 120;

/**
 * A document as people read it: a short value stands in one line, so that a grant or a rule is one line. Invisible characters are escapes: the
 * same document.
 */
export function formatDocument(value: unknown): string {
  return visible(printed(value, 0));
}

function printed(value: unknown, depth: number): string {
  const flat = flatText(value);
  if (depth > 0 && 2 * depth + flat.length <= width) return flat;
  const [inner, outer] = ["  ".repeat(depth + 1), "  ".repeat(depth)];
  if (Array.isArray(value) && value.length > 0)
    return `[\n${value.map((each) => inner + printed(each, depth + 1)).join(",\n")}\n${outer}]`;
  if (typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0) {
    const members = membersOf(value).map(
      ([key, each]) => `${inner}${JSON.stringify(key)}: ${printed(each, depth + 1)}`,
    );
    return `{\n${members.join(",\n")}\n${outer}}`;
  }
  return flat;
}

function flatText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flatText).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = membersOf(value).map(([key, each]) => `${JSON.stringify(key)}: ${flatText(each)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function membersOf(value: object): readonly (readonly [string, unknown])[] {
  return Object.entries(value).filter(([, each]) => each !== undefined);
}
