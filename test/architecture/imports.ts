import { readFileSync } from "node:fs";
import { packageName, resolveImport, root, type SourceFile } from "../support/sources.ts";

/** Which packages of this repository a package may import. */
export const packageDirections: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  "worker-host": ["kernel", "bus"],
  agents: ["kernel"],
  bus: ["kernel"],
  keyhole: ["kernel", "worker-host", "mcp"],
  edge: ["kernel", "worker-host", "bus", "mcp"],
  mcp: ["kernel", "worker-host"],
  playground: ["agents", "kernel", "worker-host"],
};

/** Where a platform's own modules may be imported; everything else runs on every host. */
const platformImports: readonly { readonly specifier: RegExp; readonly folders: RegExp }[] = [
  {
    specifier: /^node:/,
    folders:
      /^packages\/(?:worker-host\/src\/node\/|edge\/src\/dev\/|mcp\/src\/node\/|keyhole\/src\/(?:(?:node|plugin|vite|command)\/|cli\.ts$))/,
  },
  { specifier: /^cloudflare:/, folders: /^packages\/edge\/src\/(?!dev\/)/ },
  { specifier: /^vite$/, folders: /^packages\/keyhole\/src\/vite\// },
];

/**
 * What each folder of the kernel may import: the stages in the order in which a call meets them, then the leaves that
 * serve them all. `types` lists what may be imported as types only, besides `values`.
 */
const kernelDirections: Readonly<
  Record<string, { readonly values: readonly string[]; readonly types: readonly string[] }>
> = {
  tool: {
    values: [
      "schema",
      "capability",
      "bounds",
      "json",
      "hash",
      "bytes",
      "support",
      "normalize",
      "limits.ts",
      "result.ts",
    ],
    types: ["isolate", "kernel-api.ts"],
  },
  schema: { values: ["json", "hash", "bytes", "support", "normalize"], types: [] },
  capability: {
    values: ["id", "schema", "json", "hash", "bytes", "support", "normalize", "state", "limits.ts", "result.ts"],
    types: ["tool"],
  },
  policy: {
    values: [
      "id",
      "json",
      "hash",
      "bytes",
      "support",
      "normalize",
      "schema",
      "tool",
      "capability",
      "bounds",
      "state",
      "limits.ts",
      "result.ts",
    ],
    types: ["isolate"],
  },
  bounds: {
    values: ["bytes", "state", "support", "limits.ts", "result.ts"],
    types: ["json", "hash", "normalize", "isolate"],
  },
  guest: {
    values: ["capability", "id", "json", "support", "limits.ts"],
    types: ["bytes", "hash", "normalize", "isolate", "capability", "tool"],
  },
  isolate: {
    values: [
      "guest",
      "id",
      "json",
      "hash",
      "bytes",
      "support",
      "normalize",
      "bounds",
      "state",
      "limits.ts",
      "result.ts",
    ],
    types: ["capability", "tool"],
  },
  normalize: { values: ["json", "hash", "support"], types: [] },
  json: { values: ["support"], types: [] },
  hash: { values: ["bytes", "json", "support"], types: [] },
  bytes: { values: [], types: ["hash"] },
  support: { values: [], types: [] },
  audit: {
    values: ["id", "json", "hash", "bytes", "support", "normalize", "schema", "state", "limits.ts", "result.ts"],
    types: ["capability", "policy", "tool", "isolate"],
  },
  call: {
    values: [
      "id",
      "tool",
      "schema",
      "capability",
      "policy",
      "bounds",
      "isolate",
      "json",
      "hash",
      "bytes",
      "support",
      "normalize",
      "audit",
      "state",
      "limits.ts",
    ],
    types: ["result.ts"],
  },
  // The core asks, extensions answer: nothing of the core imports one.
  extensions: {
    values: [
      "schema",
      "id",
      "tool",
      "capability",
      "policy",
      "bounds",
      "isolate",
      "json",
      "hash",
      "bytes",
      "support",
      "normalize",
      "audit",
      "call",
      "operations",
      "state",
      "limits.ts",
    ],
    types: ["result.ts"],
  },
  state: { values: ["support"], types: ["isolate", "json"] },
  testing: { values: ["isolate", "replay", "call", "tool"], types: ["capability", "policy"] },
  operations: {
    values: [
      "id",
      "tool",
      "capability",
      "policy",
      "bounds",
      "isolate",
      "json",
      "hash",
      "bytes",
      "support",
      "normalize",
      "audit",
      "call",
      "state",
      "limits.ts",
    ],
    types: ["kernel-api.ts", "result.ts"],
  },
  pipeline: {
    values: ["id", "json", "hash", "bytes", "support", "normalize", "schema"],
    types: ["kernel-api.ts", "result.ts"],
  },
  // Digests of outcomes, and the check of purity, which a kernel has as well, are those of the isolates.
  // A recorded program is put into its package again, by the kernel's own rule.
  replay: {
    values: [
      "json",
      "hash",
      "bytes",
      "support",
      "normalize",
      "schema",
      "audit",
      "bounds",
      "isolate",
      "tool",
      "limits.ts",
    ],
    types: ["capability", "kernel-api.ts", "result.ts"],
  },
  "policy/review": {
    values: [
      "policy",
      "audit",
      "tool",
      "schema",
      "capability",
      "json",
      "hash",
      "bytes",
      "support",
      "normalize",
      "state",
      "limits.ts",
    ],
    types: ["isolate", "kernel-api.ts", "result.ts"],
  },
  // A keeper brings the family of the kind that grants secrets.
  secrets: { values: ["capability", "id", "json", "hash", "bytes", "support", "normalize"], types: [] },
  "foreign-tools": {
    values: ["json", "hash", "support"],
    types: ["bounds", "isolate", "tool", "kernel-api.ts"],
  },
  surface: {
    values: ["capability", "json", "hash", "bytes", "support", "normalize", "schema", "tool"],
    types: ["result.ts"],
  },
  id: { values: ["json", "hash", "bytes", "support", "normalize"], types: [] },
  "limits.ts": { values: [], types: ["bounds"] },
  "result.ts": { values: [], types: ["json", "hash", "bytes", "support", "normalize", "policy", "capability"] },
};

export const kernelFolder = "packages/kernel/src/";

/** The folder under `packages/` that a file is in. */
export function packageOf(path: string): string {
  return path.split("/")[1] ?? "";
}

export function declaredDependencies(name: string): Set<string> {
  const manifest: unknown = JSON.parse(readFileSync(`${root}packages/${name}/package.json`, "utf8"));
  const { dependencies = {}, peerDependencies = {} } = manifest as Record<string, Record<string, string>>;
  return new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
}

/** Imports that leave their package in a way that the tables above do not allow. */
export function packageViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const own = packageOf(file.path);
    const declared = declaredDependencies(own);
    const allowed = new Set(packageDirections[own]?.map((name) => `@keyhole/${name}`));
    return file.imports.flatMap(({ specifier, line }) => {
      const where = `${file.path}:${line} imports ${specifier}`;
      if (specifier.startsWith(".")) {
        return resolveImport(file.path, specifier).startsWith(`packages/${own}/`) ? [] : [where];
      }
      const platform = platformImports.find((each) => each.specifier.test(specifier));
      if (platform !== undefined) return platform.folders.test(file.path) ? [] : [where];
      const name = packageName(specifier);
      if (name.startsWith("@keyhole/")) return allowed.has(name) ? [] : [where];
      return declared.has(name) ? [] : [where];
    });
  });
}

/** A folder inside another has an order of its own where the table names it. */
function kernelPart(path: string): string {
  const [first = "", second] = path.slice(kernelFolder.length).split("/");
  const nested = `${first}/${second}`;
  return Object.hasOwn(kernelDirections, nested) ? nested : first;
}

/** Imports between the kernel's folders against their order. The files at its top, except the leaves, may import all. */
export function kernelViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const part = kernelPart(file.path);
    const direction = kernelDirections[part];
    if (direction === undefined) return part.includes(".") ? [] : [`${file.path}: the table does not name ${part}/`];
    return file.imports.flatMap(({ specifier, kind, line }) => {
      const target = kernelPart(resolveImport(file.path, specifier));
      const allowed = [part, ...direction.values, ...(kind === "type" ? direction.types : [])];
      return allowed.includes(target) ? [] : [`${file.path}:${line} imports a ${kind} from ${specifier}`];
    });
  });
}
