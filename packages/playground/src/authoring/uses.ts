import { typescriptLanguage } from "@codemirror/lang-javascript";
import type { DeclaredCapability } from "@keyhole/kernel";

/** A place of the source that calls a member of the context which asks for a capability. */
export interface Use {
  /** As it is written. */
  readonly called: string;
  /** The tool has to declare one of these kinds. */
  readonly kinds: readonly string[];
  /** Offsets in the source. */
  readonly from: number;
  readonly to: number;
}

/** The kinds of access that members of the context need. */
const asks: ReadonlyMap<string, readonly string[]> = new Map([
  ["fetch", ["net.read", "net.write"]],
  ["files.read", ["fs.read"]],
  ["files.list", ["fs.read"]],
  ["files.stat", ["fs.read"]],
  ["files.write", ["fs.write"]],
  ["files.remove", ["fs.write"]],
  ["kv.get", ["kv.read"]],
  ["kv.list", ["kv.read"]],
  ["kv.put", ["kv.write"]],
  ["kv.delete", ["kv.write"]],
  ["db", ["db.read", "db.write"]],
  ["spawn", ["process.spawn"]],
  ["tools.call", ["tool.call"]],
  ["secret", ["secret.use"]],
]);

/**
 * Calls that need a capability, as far as their names tell: `fetch(…)`, `context.kv.put(…)`. The search misses a function under another name; the kernel refuses it when
 * the tool runs.
 */
export function usesIn(source: string): readonly Use[] {
  const uses: Use[] = [];
  typescriptLanguage.parser.parse(source).iterate({
    enter({ name, node }) {
      const callee = name === "CallExpression" ? node.firstChild : null;
      if (callee === null) return;
      const called = source.slice(callee.from, callee.to).replaceAll(/\s|\?/g, "");
      // A parameter of its own, or a member of the context under any name.
      const kinds = asks.get(called) ?? asks.get(called.slice(called.indexOf(".") + 1));
      if (kinds !== undefined) uses.push({ called, kinds, from: callee.from, to: callee.to });
    },
  });
  return uses;
}

/** Uses without a declared kind. The kernel refuses each of them under every policy. */
export function undeclared(uses: readonly Use[], capabilities: readonly DeclaredCapability[]): readonly Use[] {
  const kinds = new Set<string>(capabilities.map(({ kind }) => kind));
  return uses.filter((use) => !use.kinds.some((kind) => kinds.has(kind)));
}

/** A declaration of each kind, for the author to narrow. */
const examples: ReadonlyMap<string, string> = new Map([
  ["net.read", '{ kind: "net.read", hosts: ["example.com"] }'],
  ["net.write", '{ kind: "net.write", hosts: ["example.com"] }'],
  ["fs.read", '{ kind: "fs.read", paths: ["workspace/**"] }'],
  ["fs.write", '{ kind: "fs.write", paths: ["workspace/**"] }'],
  ["kv.read", '{ kind: "kv.read", keys: ["workspace/"] }'],
  ["kv.write", '{ kind: "kv.write", keys: ["workspace/"] }'],
  ["db.read", '{ kind: "db.read", databases: ["main"] }'],
  ["tool.call", '{ kind: "tool.call", tools: ["echo"] }'],
]);

/** The source with one capability more, and what follows from it; `undefined` where its `capabilities` are no plain list. */
export function declare(source: string, kind: string): string | undefined {
  const example = examples.get(kind);
  const withCapability = example === undefined ? undefined : intoList(source, "capabilities", example);
  if (withCapability === undefined) return undefined;
  // A tool with a capability depends on more than its input and its seed.
  const impure = withoutPurity(withCapability);
  return kind === "tool.call" ? impure : (intoList(impure, "effects", JSON.stringify(kind)) ?? impure);
}

function withoutPurity(source: string): string {
  const place = valueOf(source, "determinism", "String");
  if (place === undefined || !/^.(?:pure|seeded).$/.test(source.slice(place.from, place.to))) return source;
  return `${source.slice(0, place.from)}"external"${source.slice(place.to)}`;
}

function intoList(source: string, member: string, item: string): string | undefined {
  const found = valueOf(source, member, "ArrayExpression");
  if (found === undefined) return undefined;
  const within = source.slice(found.from + 1, found.to - 1);
  if (within.includes(item)) return source;
  const rest = within.trim() === "" ? "" : `, ${within}`;
  return `${source.slice(0, found.from)}[${item}${rest}]${source.slice(found.to)}`;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The value of the first property of that name in that form. */
function valueOf(source: string, member: string, form: "ArrayExpression" | "String"): Span | undefined {
  let found: Span | undefined;
  typescriptLanguage.parser.parse(source).iterate({
    enter({ name, node }) {
      if (found !== undefined || name !== "Property") return;
      const [key, value] = [node.firstChild, node.lastChild];
      if (key === null || value?.name !== form) return;
      if (source.slice(key.from, key.to) === member) found = value;
    },
  });
  return found;
}
