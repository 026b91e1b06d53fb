import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "vite";

/** The repository's root, with a slash at the end. */
export const root: string = fileURLToPath(new URL("../../", import.meta.url));

export interface SourceImport {
  readonly specifier: string;
  /** A type import leaves no trace in the output; a dynamic one counts as a value. */
  readonly kind: "value" | "type";
  readonly line: number;
}

export interface SourceFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly lineCount: number;
  readonly imports: readonly SourceImport[];
  /** Constructs that the project does without, each as `any at line 3`. */
  readonly banned: readonly string[];
}

const bannedComments = /@ts-(?:ignore|nocheck)/;

/** Reads what the architecture rules need from one file. Throws when it does not parse. */
export function parseSource(path: string, text: string): SourceFile {
  const result = parseSync(path, text);
  const [error] = result.errors;
  if (error !== undefined) throw new Error(`${path}: ${error.message}`);

  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  const imports: SourceImport[] = [];
  const banned: string[] = [];
  const add = (kind: SourceImport["kind"], source: { value: unknown; start: number } | null): void => {
    if (source !== null) imports.push({ specifier: String(source.value), kind, line: lineAt(source.start) });
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
      if (node.source.type === "Literal") add("value", node.source);
    },
    TSAnyKeyword: (node) => ban("any", node),
    TSEnumDeclaration: (node) => ban("enum", node),
    TSModuleDeclaration(node) {
      if (node.kind === "namespace") ban("namespace", node);
    },
  }).visit(result.program);
  for (const comment of result.comments) if (bannedComments.test(comment.value)) ban("@ts-ignore", comment);

  return { path, lineCount: text.split("\n").length - 1, imports, banned };
}

/** Every TypeScript file under the given folders, sorted by path; fixtures may break any rule. */
export function readSources(...folders: readonly string[]): SourceFile[] {
  const patterns = folders.map((folder) => `${folder}/**/*.{ts,tsx}`);
  const paths = globSync(patterns, { cwd: root }).map((path) => path.replaceAll("\\", "/"));
  const own = paths.filter((path) => !/(?:^|\/)(?:node_modules|dist|fixtures|suites)\//.test(path));
  return own.sort().map((path) => parseSource(path, readFileSync(root + path, "utf8")));
}

/** The file that a relative import means, relative to the root; the query of `./tool.ts?tool` is no part of it. */
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
