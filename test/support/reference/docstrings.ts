import { readFileSync } from "node:fs";
import { parseSync } from "vite";
import { root } from "../sources.ts";

export interface Member {
  readonly name: string;
  readonly isOptional: boolean;
  /** As the source writes it, in one line. */
  readonly type: string;
  /** The docstring, in one line, without its examples. */
  readonly text: string;
  /** Of an object type that is written out in place. */
  readonly members: readonly Member[];
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

interface Source {
  readonly text: string;
  readonly body: readonly Node[];
  readonly comments: readonly { readonly value: string; readonly start: number; readonly end: number }[];
}

const sources = new Map<string, Source>();

function sourceOf(path: string): Source {
  const known = sources.get(path);
  if (known) return known;
  const text = readFileSync(root + path, "utf8");
  const { program, comments } = parseSync(path, text);
  const source = { text, body: program.body as unknown as readonly Node[], comments };
  sources.set(path, source);
  return source;
}

/** The members of an interface, in the order of the source. */
export function membersOf(path: string, name: string): readonly Member[] {
  const source = sourceOf(path);
  for (const statement of source.body) {
    const declaration = isNode(statement["declaration"]) ? statement["declaration"] : statement;
    if (declaration.type !== "TSInterfaceDeclaration") continue;
    if (nameOf(declaration["id"]) === name && isNode(declaration["body"]))
      return nodesOf(declaration["body"]["body"]).map((member) => memberOf(source, member));
  }
  throw new Error(`${path} has no interface ${name}`);
}

/** The literals of a union of texts, or of a list that is `as const`, with their docstrings, in the order of the source. */
export function literalsOf(path: string, name: string): readonly (readonly [value: string, text: string])[] {
  const source = sourceOf(path);
  for (const statement of source.body) {
    const declaration = isNode(statement["declaration"]) ? statement["declaration"] : statement;
    const found = literalsIn(declaration, name);
    if (found !== undefined) return found.map((each) => literalOf(source, each));
  }
  throw new Error(`${path} has no type ${name}`);
}

function literalsIn(declaration: Node, name: string): readonly Node[] | undefined {
  const [variable] = nodesOf(declaration["declarations"]);
  if (nameOf((variable ?? declaration)["id"]) !== name) return undefined;
  const value = variable === undefined ? declaration["typeAnnotation"] : variable["init"];
  if (!isNode(value)) return undefined;
  return nodesOf(isNode(value["expression"]) ? value["expression"]["elements"] : value["types"]);
}

function literalOf(source: Source, node: Node): readonly [string, string] {
  const literal = node["literal"] ?? node;
  const text = docstringBefore(source, node.start);
  if (!isNode(literal) || text === "")
    throw new Error(`A literal has no docstring: ${source.text.slice(node.start, node.end)}`);
  return [nameOf(literal), text];
}

function memberOf(source: Source, node: Node): Member {
  const annotation = node["typeAnnotation"];
  const type = isNode(annotation) ? annotation["typeAnnotation"] : undefined;
  const isMethod = node.type === "TSMethodSignature";
  const members = isNode(type) && type.type === "TSTypeLiteral" ? nodesOf(type["members"]) : [];
  return {
    name: nameOf(node["key"]),
    isOptional: node["optional"] === true,
    type: oneLine(isMethod ? signatureOf(source, node) : isNode(type) ? source.text.slice(type.start, type.end) : ""),
    text: docstringBefore(source, node.start),
    members: members.map((member) => memberOf(source, member)),
  };
}

/** From the parameters on. */
function signatureOf({ text }: Source, node: Node): string {
  const key = node["key"];
  return text.slice(isNode(key) ? key.end : node.start, node.end).replace(/;$/, "");
}

function docstringBefore({ text, comments }: Source, start: number): string {
  const comment = comments.find(
    ({ value, start: from, end }) =>
      value.startsWith("*") && from < start && end <= start && /^\s*\|?\s*$/.test(text.slice(end, start)),
  );
  return comment === undefined ? "" : sentences(comment.value);
}

/** Keeps the description and `@throws`. */
function sentences(comment: string): string {
  const [description = "", ...tags] = comment
    .slice(1)
    .replaceAll(/^\s*\* ?/gm, "")
    .split(/^@/m);
  const thrown = tags.filter((tag) => tag.startsWith("throws")).map((tag) => `Throws ${tag.slice("throws".length)}`);
  return oneLine([description, ...thrown].join(" ")).replaceAll(/\{@link ([^}]*)\}/g, "`$1`");
}

function oneLine(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/\breadonly /g, "")
    .replaceAll(/\s+/g, " ")
    .replace(/^\| /, "")
    .trim();
}

function nodesOf(value: unknown): readonly Node[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function nameOf(key: unknown): string {
  return isNode(key) ? String(key["name"] ?? key["value"]) : "";
}
