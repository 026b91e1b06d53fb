import { readFileSync } from "node:fs";
import { readPage, table } from "../docs/markdown.ts";
import { root } from "../support/sources.ts";

export interface Row {
  /** As a program imports it: `keyhole/vite`. */
  readonly specifier: string;
  /** The oldest major version that runs it; `undefined` where Node does not. */
  readonly node: number | undefined;
  readonly browsers: boolean;
  readonly workers: boolean;
}

export interface Manifest {
  readonly name: string;
  readonly engines: { readonly node: string };
  readonly exports: Readonly<Record<string, unknown>>;
}

export const publicPackages = ["kernel", "worker-host", "agents", "bus", "keyhole", "mcp", "edge"] as const;

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(`${root}packages/${folder}/package.json`, "utf8")) as Manifest;
}

/** The exports that a program imports as modules: no declarations, no header, no data. */
export function modulesOf({ name, exports }: Manifest): readonly string[] {
  const paths = Object.keys(exports).filter((path) => !/\.(json|h)$|^\.\/client$/.test(path));
  return paths.map((path) => name + path.slice(1));
}

const isIt = (cell: string | undefined): boolean => {
  if (cell !== "yes" && cell !== "no") throw new Error(`docs/runtimes.md says ${cell}; expected yes or no`);
  return cell === "yes";
};

/** The rows of docs/runtimes.md, one per export. */
export function runtimeRows(): readonly Row[] {
  const { prose } = readPage("docs/runtimes.md");
  return table(prose, "Package", "Exports", "Node", "Browsers", "Workers").flatMap(
    ([name = "", exports = "", node, browsers, workers]) => {
      const manifest = publicPackages.map(readManifest).find((each) => `\`${each.name}\`` === name);
      if (manifest === undefined) throw new Error(`docs/runtimes.md names the package ${name}, which is not published`);
      const listed = [...exports.matchAll(/`\.([^`]*)`/g)].map(([, path = ""]) => manifest.name + path);
      return (exports === "all" ? modulesOf(manifest) : listed).map((specifier) => ({
        specifier,
        node: node === "no" ? undefined : Number(node),
        browsers: isIt(browsers),
        workers: isIt(workers),
      }));
    },
  );
}
