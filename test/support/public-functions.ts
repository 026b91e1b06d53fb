import { globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { parseSync } from "vite";
import { resolveImport, root } from "./sources.ts";

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

interface Module {
  readonly path: string;
  readonly body: readonly Node[];
}

interface Home {
  readonly specifier: string;
  readonly takers: readonly string[];
}

interface Declared {
  readonly module: Module;
  readonly node: Node;
}

const modules = new Map<string, Module>();

/** The source of each module that a package exports, by its specifier. */
const entryPoints: ReadonlyMap<string, string> = new Map(
  globSync("packages/*/package.json", { cwd: root }).flatMap((file) => {
    const pkg = JSON.parse(readFileSync(root + file, "utf8")) as { name: string; exports?: Record<string, unknown> };
    return Object.entries(pkg.exports ?? {}).flatMap(([name, entry]) => {
      const source = isObject(entry) ? entry["keyhole-source"] : undefined;
      if (typeof source !== "string" || !source.endsWith(".ts")) return [];
      return [[posix.join(pkg.name, name), posix.join(posix.dirname(file), source)] as const];
    });
  }),
);

/** How many distinct names of its own each package exports, with the members of exported objects and namespaces. */
export function publicNames(): ReadonlyMap<string, number> {
  const names = new Map<string, Set<string>>();
  for (const path of entryPoints.values()) {
    const owner = packageOf(path);
    const own = names.get(owner) ?? new Set();
    names.set(owner, own);
    for (const [name, declared] of exportsOf(moduleAt(path), new Set()))
      if (packageOf(declared.module.path) === owner)
        for (const member of ["", ...membersOf(declared)]) own.add(`${name}.${member}`);
    for (const [namespace, target] of namespacesOf(moduleAt(path)))
      for (const name of exportsOf(target, new Set()).keys()) own.add(`${namespace}.${name}`);
  }
  return new Map([...names].map(([name, own]) => [name, own.size]));
}

const packageOf = (path: string): string => path.split("/")[1] ?? "";

/** What `export * as name from` exports. */
function namespacesOf(module: Module): readonly (readonly [string, Module])[] {
  return module.body.flatMap(({ type, exported, source }) => {
    const target = type === "ExportAllDeclaration" && isNode(exported) && isNode(source) && targetOf(module, source);
    return target ? [[nameOf(exported), target] as const] : [];
  });
}

/** The members of an object that is written out where it is declared. */
function membersOf({ node }: Declared): readonly string[] {
  const init = node["init"];
  const object = isNode(init) && isNode(init["expression"]) ? init["expression"] : init;
  if (!isNode(object) || object.type !== "ObjectExpression") return [];
  return nodesIn(object["properties"]).map(({ key }) => nameOf(key));
}

function moduleAt(path: string): Module {
  let module = modules.get(path);
  if (!module) {
    const text = readFileSync(root + path, "utf8");
    module = { path, body: parseSync(path, text).program.body as unknown as readonly Node[] };
    modules.set(path, module);
  }
  return module;
}

/**
 * What the packages export and takes options: `nodeHost`, `AgentRun` for a constructor, `Kernel.call` for a method, and `keyhole/vite keyhole` where several
 * modules export one name. Options are a parameter with the default `{}`, of a type `…Options`, or of one whose members are all optional.
 */
export function optionTakers(): readonly string[] {
  const declarations = new Map<string, Map<Node, Home>>();
  for (const [specifier, path] of entryPoints)
    for (const [name, declared] of exportsOf(moduleAt(path), new Set())) {
      const homes = declarations.get(name) ?? new Map<Node, Home>();
      declarations.set(name, homes);
      if (!homes.has(declared.node)) homes.set(declared.node, { specifier, takers: takersIn(name, declared) });
    }
  const all = [...declarations.values()].flatMap((homes) => {
    const taking = [...homes.values()].filter(({ takers }) => takers.length > 0);
    return taking.flatMap(({ specifier, takers }) =>
      taking.length > 1 ? takers.map((taker) => `${specifier} ${taker}`) : takers,
    );
  });
  return [...new Set(all)].toSorted();
}

function exportsOf(module: Module, seen: Set<string>): Map<string, Declared> {
  const found = new Map<string, Declared>();
  if (seen.has(module.path)) return found;
  seen.add(module.path);
  for (const node of module.body) {
    const from = isNode(node["source"]) ? targetOf(module, node["source"]) : undefined;
    if (node.type === "ExportAllDeclaration" && from) for (const each of exportsOf(from, seen)) found.set(...each);
    if (node.type !== "ExportNamedDeclaration") continue;
    if (isNode(node["declaration"]))
      for (const [name, declared] of declarationsIn(node["declaration"])) found.set(name, { module, node: declared });
    for (const specifier of nodesIn(node["specifiers"])) {
      const home = node["source"] ? from : module;
      const declared = home && find(home, nameOf(specifier["local"]));
      if (declared) found.set(nameOf(specifier["exported"]), declared);
    }
  }
  return found;
}

/** A name of a module, wherever it is declared; `undefined` outside of this repository. */
function find(module: Module, name: string): Declared | undefined {
  for (const node of module.body) {
    const declaration = isNode(node["declaration"]) ? node["declaration"] : node;
    const own = declarationsIn(declaration).find(([each]) => each === name);
    if (own) return { module, node: own[1] };
    if (node.type !== "ImportDeclaration" && !node["source"]) continue;
    const target = isNode(node["source"]) ? targetOf(module, node["source"]) : undefined;
    if (!target) continue;
    if (node.type === "ExportAllDeclaration") {
      const declared = find(target, name);
      if (declared) return declared;
    }
    for (const specifier of nodesIn(node["specifiers"])) {
      const isImport = node.type === "ImportDeclaration";
      if (nameOf(specifier[isImport ? "local" : "exported"]) === name)
        return find(target, nameOf(specifier[isImport ? "imported" : "local"]));
    }
  }
  return undefined;
}

function targetOf(module: Module, source: Node): Module | undefined {
  const specifier = String(source["value"]);
  const path = specifier.startsWith(".") ? resolveImport(module.path, specifier) : entryPoints.get(specifier);
  return path?.endsWith(".ts") ? moduleAt(path) : undefined;
}

function declarationsIn(node: Node): readonly (readonly [string, Node])[] {
  if (node.type === "VariableDeclaration")
    return nodesIn(node["declarations"]).map((each) => [nameOf(each["id"]), each] as const);
  return isNode(node["id"]) ? [[nameOf(node["id"]), node]] : [];
}

function takersIn(name: string, { module, node }: Declared): readonly string[] {
  const take = (owner: string, params: unknown): readonly string[] =>
    nodesIn(params).some((param) => isDefaulted(param) || isOptions(module, typeOf(param))) ? [owner] : [];
  switch (node.type) {
    case "FunctionDeclaration":
    case "TSDeclareFunction":
      return take(name, node["params"]);
    case "VariableDeclarator": {
      const init = node["init"];
      return isNode(init) && /Function/.test(init.type) ? take(name, init["params"]) : [];
    }
    case "ClassDeclaration":
    case "TSInterfaceDeclaration": {
      const body = isNode(node["body"]) ? nodesIn(node["body"]["body"]) : [];
      return body.flatMap((member) => {
        const key = isNode(member["key"]) ? nameOf(member["key"]) : "";
        if (member["accessibility"] === "private" || key === "") return [];
        const value = isNode(member["value"]) ? member["value"] : member;
        return take(key === "constructor" ? name : `${name}.${key}`, value["params"]);
      });
    }
    default:
      return [];
  }
}

/** By its name, or because all of its members are optional. */
function isOptions(module: Module, type: Node | undefined): boolean {
  if (type?.type === "TSIntersectionType") return nodesIn(type["types"]).some((each) => isOptions(module, each));
  if (type?.type === "TSTypeLiteral") return allOptional(nodesIn(type["members"]));
  if (type?.type !== "TSTypeReference") return false;
  const name = nameOf(type["typeName"]);
  const args = isNode(type["typeArguments"]) ? nodesIn(type["typeArguments"]["params"]) : [];
  if (name === "Partial") return true;
  if (["Omit", "Pick", "Readonly", "Foreign", "NoInfer"].includes(name))
    return args.slice(0, 1).some((each) => isOptions(module, each));
  if (name.endsWith("Options")) return true;
  const declared = find(module, name);
  if (!declared) return false;
  if (declared.node.type === "TSTypeAliasDeclaration" && isNode(declared.node["typeAnnotation"]))
    return isOptions(declared.module, declared.node["typeAnnotation"]);
  const body = declared.node["body"];
  return (
    declared.node.type === "TSInterfaceDeclaration" &&
    nodesIn(declared.node["extends"]).length === 0 &&
    isNode(body) &&
    allOptional(nodesIn(body["body"]))
  );
}

function allOptional(members: readonly Node[]): boolean {
  return members.length > 0 && members.every((each) => each["optional"] === true);
}

function typeOf(param: Node): Node | undefined {
  const inner =
    param.type === "AssignmentPattern"
      ? param["left"]
      : param.type === "TSParameterProperty"
        ? param["parameter"]
        : param;
  const annotation = isNode(inner) ? inner["typeAnnotation"] : undefined;
  const type = isNode(annotation) ? annotation["typeAnnotation"] : undefined;
  return isNode(type) ? type : undefined;
}

function isDefaulted(param: Node): boolean {
  const right = param["right"];
  return param.type === "AssignmentPattern" && isNode(right) && right.type === "ObjectExpression";
}

function nameOf(node: unknown): string {
  if (!isNode(node)) return "";
  return String(node["name"] ?? node["value"] ?? "");
}

function nodesIn(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function isNode(value: unknown): value is Node {
  return isObject(value) && typeof value["type"] === "string";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
