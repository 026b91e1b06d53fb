import { globSync, readFileSync } from "node:fs";
import { parseSync } from "vite";
import { errorCodes, setupErrorCodes } from "../../packages/kernel/src/result.ts";
import { root } from "./sources.ts";

/** A text that a caller, a model or an operator can read. */
export interface Message {
  /** Relative to the root. */
  readonly path: string;
  /** A value that the program puts in stands as `{…}`. */
  readonly text: string;
  readonly role: "message" | "hint" | "operatorHint" | "part";
  /** The code that the text belongs to, where the source names both in one expression. */
  readonly code: string | undefined;
}

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

const codes: ReadonlySet<unknown> = new Set([...errorCodes, ...setupErrorCodes]);
const roles = ["message", "hint", "operatorHint"] as const;

/** Names of properties whose texts nobody gets as a message. */
const otherTexts = new Set(["description", "title", "pattern", "$comment", "sql"]);

let read: readonly Message[] | undefined;

/** Every message and hint in the sources of the packages, in the order of the files. */
export function readMessages(): readonly Message[] {
  return (read ??= readAll());
}

function readAll(): readonly Message[] {
  const paths = globSync("packages/{kernel,worker-host,keyhole,edge,mcp}/src/**/*.ts", { cwd: root }).toSorted();
  const files = paths
    .filter((path) => !path.endsWith("document-texts.ts"))
    .map((path) => ({ path, source: readFileSync(root + path, "utf8") }))
    .map((file) => ({ ...file, program: parseSync(file.path, file.source).program as unknown as Node }));
  const late = files.filter(({ source }) => source.includes("texts."));
  const codeOfText = new Map(late.flatMap(({ program }) => lateTexts(program)));
  return files.flatMap(({ path, program }) => messagesIn(path, program, codeOfText));
}

/** Texts that a fault loads when it happens: the names of the functions and tables, and the code of the fault. */
function lateTexts(node: Node, code?: string): (readonly [name: string, code: string])[] {
  const own = node.type === "NewExpression" && nameOf(node["callee"]) === "CallFault" ? codeIn(node) : code;
  const isText = node.type === "MemberExpression" && nameOf(node["object"]) === "texts";
  const found = isText && own !== undefined ? [[nameOf(node["property"]), own] as const] : [];
  return [...found, ...childrenOf(node).flatMap(([, child]) => lateTexts(child, own))];
}

function messagesIn(path: string, program: Node, codeOfText: ReadonlyMap<string, string>): readonly Message[] {
  const found: Message[] = [];
  const visit = (node: Node, role: Message["role"], code: string | undefined): void => {
    const text = textOf(node);
    if (text !== undefined && isSaid(text, role)) found.push({ path, text, role, code });
    const own = codeIn(node) ?? (isDeclaration(node) ? codeOfText.get(nameOf(node["id"])) : undefined) ?? code;
    for (const [key, child] of childrenOf(node)) {
      if (isSkipped(node, key)) continue;
      visit(child, roleOf(child, role), own);
    }
  };
  visit(program, "part", undefined);
  return found;
}

function isDeclaration({ type }: Node): boolean {
  return type === "FunctionDeclaration" || type === "VariableDeclarator";
}

function childrenOf(node: Node): readonly (readonly [key: string, child: Node])[] {
  // Loops: the trees have a million nodes.
  const found: [key: string, child: Node][] = [];
  for (const key of Object.keys(node)) {
    const value = node[key];
    if (isNode(value)) found.push([key, value]);
    else if (Array.isArray(value)) for (const each of value as unknown[]) if (isNode(each)) found.push([key, each]);
  }
  return found;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}

function isSkipped(node: Node, key: string): boolean {
  if (node.type.startsWith("Import") || node.type.startsWith("Export")) return key === "source";
  if (node.type.startsWith("TS")) return node.type.includes("Type") && node.type !== "TSTypeAssertion";
  return node.type === "Property" && otherTexts.has(nameOf(node["key"]));
}

function nameOf(key: unknown): string {
  return isNode(key) ? String(key["name"] ?? key["value"]) : "";
}

function roleOf(node: Node, outer: Message["role"]): Message["role"] {
  if (node.type === "Property") return roles.find((role) => role === nameOf(node["key"])) ?? "part";
  return outer;
}

/** The code beside a text: an argument of the same call, or a property of the same object. */
function codeIn(node: Node): string | undefined {
  const values: unknown[] =
    node.type === "CallExpression" || node.type === "NewExpression"
      ? (node["arguments"] as unknown[])
      : node.type === "ObjectExpression"
        ? (node["properties"] as Node[]).filter((each) => nameOf(each["key"]) === "code").map((each) => each["value"])
        : [];
  return values.map((each) => (isNode(each) ? each["value"] : undefined)).find((each) => codes.has(each)) as
    | string
    | undefined;
}

function textOf(node: Node): string | undefined {
  if (node.type === "Literal") return typeof node["value"] === "string" ? node["value"] : undefined;
  if (node.type !== "TemplateLiteral") return undefined;
  const quasis = node["quasis"] as { readonly value: { readonly cooked: string } }[];
  return quasis.map(({ value }) => value.cooked).join("{…}");
}

const sentenceWords =
  /\b(?:an?|and|are|at|be|by|cannot|could|for|has|have|in|is|its?|no|not|of|or|than|that|the|to|was|with)\b/;
const foreignText = /[{;=]\s*\n|=>|^\s*(?:SELECT|INSERT|CREATE|DELETE|UPDATE|PRAGMA|BEGIN|WITH|"use )|^[a-z]+-src /;

/** A text of three words, or of one where it is called a message. Code, SQL, policies of pages and lists of names are none. */
function isSaid(text: string, role: Message["role"]): boolean {
  if (text.length > 300 || foreignText.test(text)) return false;
  const words = text.split(/\s+/).filter((word) => /^[`("']?[A-Za-z][a-z'-]*[`)"',.:;?]*$/.test(word));
  if (role !== "part") return words.length > 1;
  return words.length >= 3 && sentenceWords.test(text);
}

const labels = { message: "message", hint: "hint", operatorHint: "operatorHint", part: "" } as const satisfies Record<
  Message["role"],
  string
>;

/** The page that lists them all. */
export function messagesPage(messages: readonly Message[] = readMessages()): string {
  const byCode = Map.groupBy(messages, ({ code }) => code ?? "");
  const coded = [...byCode.keys()].filter((code) => code !== "").toSorted();
  const byFolder = Map.groupBy(byCode.get("") ?? [], ({ path }) =>
    path.slice("packages/".length, path.lastIndexOf("/")),
  );
  return [
    "# Messages",
    "",
    "For writers and reviewers: every text that a caller, a model or an operator can read. `npm run write:messages` makes this page from the sources.",
    "`{…}` is a value. Programs branch on codes: the texts can change in every release.",
    "",
    "## By code",
    ...coded.flatMap((code) => section(`[${code}](${code}.md)`, byCode.get(code)!)),
    "",
    "## By folder",
    "",
    "The code of these texts is set elsewhere, or they are a part of a message.",
    ...[...byFolder].flatMap(([folder, texts]) => section(`\`${folder}\``, texts)),
    "",
  ].join("\n");
}

function section(title: string, messages: readonly Message[]): readonly string[] {
  const lines = messages.map(({ role, text }) => `- ${labels[role] && `*${labels[role]}* `}${escaped(text)}`);
  return ["", `### ${title}`, "", ...new Set(lines)];
}

/** A text keeps its characters: Markdown would read some of them. */
function escaped(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\*_<>[\]|#]/g, "\\$&");
}
