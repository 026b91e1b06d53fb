import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "vite";

type Program = ReturnType<typeof parseSync>["program"];

/** The repository's root, with a slash at the end. */
export const root: string = fileURLToPath(new URL("../../", import.meta.url));

export interface SourceImport {
  readonly specifier: string;
  /** A type import leaves no trace in the output; a dynamic one counts as a value. */
  readonly kind: "value" | "type";
  readonly line: number;
}

export interface SourceFunction {
  /** What the source calls it: `open`, or `it("opens a file")` for a callback. Two functions can have one name. */
  readonly name: string;
  /** From its first line to its last one, nested functions included. */
  readonly lineCount: number;
}

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly lineCount: number;
  readonly imports: readonly SourceImport[];
  /** Every function except the callbacks of `describe`, which are lists of tests. */
  readonly functions: readonly SourceFunction[];
  /** The lines with an `import()`, of any module. */
  readonly dynamicImports: readonly number[];
  /** Constructs that the project does without, each as `any at line 3`. */
  readonly banned: readonly string[];
  /** Types that the compiler is told to believe: `as T` or `<T>`, except `as const`; and `x!`, or `x!: T` of a declaration. */
  readonly assertions: readonly SourceAssertion[];
}

export interface SourceAssertion {
  readonly kind: "as" | "!";
  readonly line: number;
}

const bannedComments = /@ts-(?:ignore|nocheck)/;

/** Reads what the architecture rules need from one file. Throws when it does not parse. */
export function parseSource(path: string, text: string): SourceFile {
  const result = parseSync(path, text);
  const [error] = result.errors;
  if (error !== undefined) throw new Error(`${path}: ${error.message}`);

  const lineAt = lineCounter(text);
  const imports: SourceImport[] = [];
  const dynamicImports: number[] = [];
  const banned: string[] = [];
  const add = (kind: SourceImport["kind"], source: { value: unknown; start: number } | null): void => {
    if (source !== null)
      imports.push({ specifier: String(source.value).replace(/^keyhole:/, ""), kind, line: lineAt(source.start) });
  };
  const assertions: SourceAssertion[] = [];
  const assertion = (kind: SourceAssertion["kind"], node: { start: number }): void => {
    assertions.push({ kind, line: lineAt(node.start) });
  };
  const ban = (what: string, node: { start: number }): void => {
    banned.push(`${what} at line ${lineAt(node.start)}`);
  };

  new Visitor({
    ImportDeclaration(node) {
      const named = node.specifiers.filter((specifier) => specifier.type === "ImportSpecifier");
      const typesOnly = named.length > 0 && named.length === node.specifiers.length;
      const isType = node.importKind === "type" || (typesOnly && named.every((each) => each.importKind === "type"));
      add(isType ? "type" : "value", node.source);
    },
    ExportNamedDeclaration: (node) => add(node.exportKind === "type" ? "type" : "value", node.source),
    ExportAllDeclaration: (node) => add(node.exportKind === "type" ? "type" : "value", node.source),
    TSImportType: (node) => add("type", node.source),
    ImportExpression(node) {
      dynamicImports.push(lineAt(node.start));
      if (node.source.type === "Literal") add("value", node.source);
    },
    TSAsExpression(node) {
      const type = node.typeAnnotation;
      const isConst =
        type.type === "TSTypeReference" && type.typeName.type === "Identifier" && type.typeName.name === "const";
      if (!isConst) assertion("as", node);
    },
    TSTypeAssertion: (node) => assertion("as", node),
    TSNonNullExpression: (node) => assertion("!", node),
    PropertyDefinition(node) {
      if (node.definite) assertion("!", node);
    },
    VariableDeclarator(node) {
      if (node.definite) assertion("!", node);
    },
    TSAnyKeyword: (node) => ban("any", node),
    TSEnumDeclaration: (node) => ban("enum", node),
    TSModuleDeclaration(node) {
      if (node.kind === "namespace") ban("namespace", node);
    },
  }).visit(result.program);
  for (const comment of result.comments) if (bannedComments.test(comment.value)) ban("@ts-ignore", comment);

  const functions = functionsIn(result.program, text, lineAt);
  return { path, lineCount: text.split("\n").length - 1, imports, dynamicImports, functions, banned, assertions };
}

interface Place {
  readonly start: number;
  readonly end: number;
}

function lineCounter(text: string): (offset: number) => number {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ends[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

function functionsIn(program: Program, text: string, lineAt: (offset: number) => number): SourceFunction[] {
  const found: SourceFunction[] = [];
  // A node's parent is visited first, so the name is there when the function comes.
  const names = new Map<number, string>();
  const sourceOf = ({ start, end }: Place): string => text.slice(start, end);
  const named = (value: Place | null, by: Place): void => {
    if (value !== null) names.set(value.start, sourceOf(by));
  };
  const add = (node: Place & { readonly id: Place | null }): void => {
    const name = node.id === null ? (names.get(node.start) ?? "a function without a name") : sourceOf(node.id);
    if (name.startsWith("describe(") || name.startsWith("describe.")) return;
    found.push({ name, lineCount: lineAt(node.end) - lineAt(node.start) + 1 });
  };
  new Visitor({
    VariableDeclarator: (node) => named(node.init, node.id),
    AssignmentExpression: (node) => named(node.right, node.left),
    Property: (node) => named(node.value, node.key),
    MethodDefinition: (node) => named(node.value, node.key),
    PropertyDefinition: (node) => named(node.value, node.key),
    ExportDefaultDeclaration: (node) => names.set(node.declaration.start, "export default"),
    CallExpression(node) {
      const [callee = ""] = /^[\w.#]*/.exec(sourceOf(node.callee)) ?? [];
      const [first] = node.arguments;
      const title = first?.type === "Literal" || first?.type === "TemplateLiteral" ? sourceOf(first) : "";
      for (const argument of node.arguments) names.set(argument.start, `${callee}(${title})`);
    },
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
  }).visit(program);
  return found;
}

/** Of the test files of this worker: they read the same sources. */
const parsed = new Map<string, SourceFile>();

function parseFile(path: string): SourceFile {
  const file = parsed.get(path) ?? parseSource(path, readFileSync(root + path, "utf8"));
  parsed.set(path, file);
  return file;
}

/** Every TypeScript file and module of JavaScript under the given folders, sorted by path; fixtures may break any rule. */
export function readSources(...folders: readonly string[]): SourceFile[] {
  return sourcePaths(...folders).map(parseFile);
}

/** The paths of {@link readSources}, relative to the root. */
export function sourcePaths(...folders: readonly string[]): string[] {
  const patterns = folders.map((folder) => `${folder}/**/*.{ts,tsx,mjs}`);
  const paths = globSync(patterns, { cwd: root }).map((path) => path.replaceAll("\\", "/"));
  const own = paths.filter((path) => !/(?:^|\/)(?:node_modules|dist|fixtures|suites)\//.test(path));
  return own.sort();
}

/** The file that a relative import means, relative to the root; the query of `./shell.ts?iife` is no part of it. */
export function resolveImport(from: string, specifier: string): string {
  const [path = ""] = specifier.split("?");
  return posix.join(posix.dirname(from), path);
}

/** The package that a bare import means: `@scope/name` of `@scope/name/sub`. */
export function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
