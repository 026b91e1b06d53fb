import { globSync, readFileSync } from "node:fs";
import { type ESTree, parseSync, Visitor } from "vite";
import { type Browser, runsIn } from "./browser-files.ts";
import { root } from "./sources.ts";

/** Every contract: the function that puts a host under it, and what it is about. */
const contracts: Readonly<Record<string, string>> = {
  describeIsolateHost: "Isolate host",
  describeWasmHost: "Isolate host, for modules of WebAssembly",
  describeInterpreter: "Interpreter",
  describeTurns: "Interpreter, in turns",
  describeSuspension: "Interpreter, suspended",
  describeSuspendedCalls: "Suspended calls",
  kernelClientContract: "Client of a kernel",
  describeTenCalls: "Ten calls",
  describeDeterminism: "Determinism",
  describeReplay: "Replay",
  describeCodeMode: "Code mode",
  describeRealm: "Reach of a hardened realm",
  describeWakes: "Rest of a hardened realm",
  describeImports: "Imports of tools",
  describeLeaks: "Leaks of a hardened realm",
  describeCatalogue: "Catalogue of tools",
  builtinToolsContract: "Built-in tools",
  describeExample: "Example in C",
  describeCommands: "WASI commands",
  describeSpawn: "Commands",
  counts: "Fuel, as wasmtime counts it",
  urls: "URLs in the interpreter, as on Node",
  describeRandomTools: "Random modules as tools",
  filesContract: "Files",
  describeGrammar: "Grammar of paths",
  kvContract: "Key-value store",
  dbContract: "Database",
  dbEngineContract: "Database, its engine",
  dbGrantsContract: "Database, its grants",
  describeFamily: "Kind of capability",
  describeBus: "Bus",
  describeContentStore: "Content store",
  describeSink: "Audit sink",
  describeState: "State that governs",
  describeSuite: "JSON Schema test suite",
  describeVectors: "Vectors of normalization",
  describeBattery: "Hostile battery",
};

const platforms = ["node", "chromium", "firefox", "webkit", "workerd"] as const;
type Platform = (typeof platforms)[number];

/** How much of a contract runs: `thorough` is what `npm test` leaves out. */
type Extent = "whole" | "engine" | "thorough";

export interface ContractRun {
  readonly contract: string;
  /** What is under it. */
  readonly subject: string;
  readonly path: string;
  /** `whole`, `engine`, or the one browser that runs the whole. */
  readonly part: string;
}

/** Every place in the test files where something is put under a contract. */
export function contractRuns(path: string, text: string): ContractRun[] {
  const runs: ContractRun[] = [];
  const sourceOf = ({ start, end }: { readonly start: number; readonly end: number }): string => text.slice(start, end);
  const partOf = (call: string): string => {
    const declared = /\bpart\b[,\s}]/.test(call)
      ? /const part = (.+);/.exec(text)?.[1]
      : /\bpart: ([^,}]+)/.exec(call)?.[1];
    const alone = /\("(whole|engine)"\)/.exec(call)?.[1];
    return /"(\w+)"/.exec(declared ?? "")?.[1] ?? alone ?? "whole";
  };
  new Visitor({
    CallExpression(node) {
      if (node.callee.type !== "Identifier" || !isContract(node.callee.name)) return;
      const [name] = node.arguments;
      const subject = name === undefined ? "" : subjectOf(name, sourceOf);
      runs.push({ contract: node.callee.name, subject, path, part: partOf(sourceOf(node)) });
    },
    ImportDeclaration(node) {
      const shared = /\/(\w+)\.shared\.ts$/.exec(node.source.value)?.[1];
      if (node.specifiers.length === 0 && shared !== undefined)
        runs.push({ contract: shared, subject: "", path, part: "whole" });
    },
  }).visit(parseSync(path, text).program);
  return runs;
}

const isContract = (name: string): boolean => /^describe[A-Z]|Contract$/.test(name);

const partOnly: ReadonlySet<string> = new Set(["whole", "engine"]);

/** A name where the contract is given one, and elsewhere the expression that makes the subject. */
function subjectOf(argument: ESTree.Argument, sourceOf: (node: ESTree.Argument) => string): string {
  // A contract without a name of its own may be given its part alone.
  if (argument.type === "Literal") return partOnly.has(String(argument.value)) ? "" : String(argument.value);
  if (argument.type === "TemplateLiteral")
    return sourceOf(argument)
      .slice(1, -1)
      .replaceAll(/\$\{\w+\}/g, "…");
  return /\b(\w+(?:Host|Engine))\b/.exec(sourceOf(argument))?.[1] ?? "";
}

function extentOn(platform: Platform, { path, part }: ContractRun): Extent | undefined {
  if (platformOf(path) !== (isBrowser(platform) ? "browser" : platform)) return undefined;
  if (isBrowser(platform) && !runsIn(platform, path, true)) return undefined;
  if (isBrowser(platform) ? !runsIn(platform, path, false) : path.includes(".thorough.")) return "thorough";
  return part === "whole" || part === platform ? "whole" : "engine";
}

const isBrowser = (platform: Platform): platform is Browser => platform !== "node" && platform !== "workerd";

function platformOf(path: string): string {
  return /\.(browser|workerd)\.test\.ts$/.exec(path)?.[1] ?? "node";
}

/** The test files of the repository, with forward slashes. */
function testFiles(): readonly string[] {
  return globSync("test/**/*.test.ts", { cwd: root, exclude: ["**/node_modules/**"] })
    .map((path) => path.replaceAll("\\", "/"))
    .toSorted();
}

/** All of them. */
export function allContractRuns(): readonly ContractRun[] {
  return testFiles().flatMap((path) => contractRuns(path, readFileSync(`${root}${path}`, "utf8")));
}

/** Contracts that no row is written for. */
export function unknownContracts(runs: readonly ContractRun[]): readonly string[] {
  return [...new Set(runs.map(({ contract }) => contract).filter((name) => !Object.hasOwn(contracts, name)))];
}

/** Every contract, what is under it, and how much of it runs where. */
function renderContracts(runs: readonly ContractRun[]): string {
  const lines = [
    "| Contract | Subject | Node | Chromium | Firefox | WebKit | workerd |",
    "| --- | --- | --- | --- | --- | --- | --- |",
  ];
  for (const [name, title] of Object.entries(contracts)) {
    const bySubject = Map.groupBy(
      runs.filter(({ contract }) => contract === name),
      ({ subject }) => subject,
    );
    for (const [subject, group] of bySubject) {
      const cells = platforms.map((platform) => cellOf(platform, group));
      lines.push(`| ${[title, subject, ...cells].join(" | ")} |`);
    }
  }
  return lines.join("\n");
}

function cellOf(platform: Platform, runs: readonly ContractRun[]): string {
  const order: readonly Extent[] = ["whole", "engine", "thorough"];
  const extents = runs.map((run) => extentOn(platform, run));
  return order.find((extent) => extents.includes(extent)) ?? "";
}

const [begin, end] = ["<!-- contracts: written by `npm run write:contract-table` -->", "<!-- end of contracts -->"];

/** The page with the table of today between its marks. */
export function withContracts(page: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`The page has no marks: ${begin} and ${end}`);
  return `${page.slice(0, from + begin.length)}\n\n${renderContracts(allContractRuns())}\n\n${page.slice(to)}`;
}
