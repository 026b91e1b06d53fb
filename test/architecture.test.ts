import { existsSync, globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { errorCodes, setupErrorCodes } from "../packages/kernel/src/result.ts";
import { packageName, parseSource, readSources, resolveImport, root, type SourceFile } from "./support/sources.ts";

const maxLines = 350;

/** Which packages of this repository a package may import. */
const packageDirections: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  "worker-host": ["kernel"],
  edge: ["kernel", "worker-host"],
  playground: ["kernel", "worker-host"],
};

/** Where a platform's own modules may be imported; everything else runs on every host. */
const platformImports: readonly { readonly specifier: RegExp; readonly folders: RegExp }[] = [
  { specifier: /^node:/, folders: /^packages\/worker-host\/src\/(?:node|vite)\// },
  { specifier: /^cloudflare:/, folders: /^packages\/edge\/src\// },
  { specifier: /^vite$/, folders: /^packages\/worker-host\/src\/vite\// },
];

/**
 * What each folder of the kernel may import: the stages in the order in which a call meets them, then the leaves that
 * serve them all. `types` lists what may be imported as types only, besides `values`.
 */
const kernelDirections: Readonly<
  Record<string, { readonly values: readonly string[]; readonly types: readonly string[] }>
> = {
  tool: {
    values: ["schema", "capability", "bounds", "normalize", "limits.ts", "result.ts"],
    types: ["isolate", "kernel-api.ts"],
  },
  schema: { values: ["normalize"], types: [] },
  capability: { values: ["id", "normalize", "limits.ts", "result.ts"], types: ["tool"] },
  policy: {
    values: ["id", "normalize", "schema", "tool", "capability", "bounds", "limits.ts", "result.ts"],
    types: ["isolate"],
  },
  bounds: { values: ["limits.ts", "result.ts"], types: ["normalize", "isolate"] },
  isolate: { values: ["id", "normalize", "limits.ts", "result.ts"], types: ["bounds", "capability", "tool"] },
  normalize: { values: [], types: [] },
  audit: {
    values: ["id", "normalize", "schema", "limits.ts", "result.ts"],
    types: ["capability", "policy", "tool", "isolate"],
  },
  call: {
    values: ["id", "tool", "schema", "capability", "policy", "bounds", "isolate", "normalize", "audit", "limits.ts"],
    types: ["result.ts", "kernel-api.ts"],
  },
  pipeline: { values: ["id", "normalize", "schema"], types: ["kernel-api.ts", "result.ts"] },
  // Digests of outcomes, and the check of purity, which a kernel has as well, are those of the isolates.
  // A recorded program is put into its package again, by the kernel's own rule.
  replay: {
    values: ["normalize", "schema", "audit", "isolate", "tool", "limits.ts"],
    types: ["capability", "kernel-api.ts", "result.ts"],
  },
  review: {
    values: ["policy", "audit", "tool", "schema", "capability", "normalize", "limits.ts"],
    types: ["isolate", "kernel-api.ts", "result.ts"],
  },
  secrets: { values: ["id"], types: ["capability", "normalize"] },
  // It goes through the steps of a call again, with what they did before.
  suspend: {
    values: ["id", "tool", "capability", "policy", "bounds", "isolate", "normalize", "audit", "call", "limits.ts"],
    types: ["result.ts", "kernel-api.ts"],
  },
  surface: { values: ["normalize", "schema", "tool"], types: [] },
  id: { values: ["normalize"], types: [] },
  "limits.ts": { values: [], types: ["bounds"] },
  "result.ts": { values: [], types: ["normalize", "policy", "capability"] },
};

const sources = readSources(
  "packages/kernel/src",
  "packages/worker-host/src",
  "packages/edge/src",
  "packages/playground/src",
);
const tests = readSources("test");
const kernelFolder = "packages/kernel/src/";

function packageOf(path: string): string {
  return path.split("/")[1] ?? "";
}

function declaredDependencies(name: string): Set<string> {
  const manifest: unknown = JSON.parse(readFileSync(`${root}packages/${name}/package.json`, "utf8"));
  const { dependencies = {}, peerDependencies = {} } = manifest as Record<string, Record<string, string>>;
  return new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
}

/** Imports that leave their package in a way that the tables above do not allow. */
function packageViolations(files: readonly SourceFile[]): string[] {
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

function kernelPart(path: string): string {
  return path.slice(kernelFolder.length).split("/")[0] ?? "";
}

/** Imports between the kernel's folders against their order. The files at its top, except the leaves, may import all. */
function kernelViolations(files: readonly SourceFile[]): string[] {
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

/** Every cycle of value imports, as the files on it. Types may refer to each other: they are gone at run time. */
function cycles(files: readonly SourceFile[]): string[] {
  const targets = new Map(
    files.map((file) => [
      file.path,
      file.imports
        .filter(({ kind, specifier }) => kind === "value" && specifier.startsWith("."))
        .map(({ specifier }) => resolveImport(file.path, specifier)),
    ]),
  );
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push([...trail.slice(start), path].join(" → "));
    if (start >= 0 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) walk(target, [...trail, path]);
    done.add(path);
  };
  for (const path of targets.keys()) walk(path, []);
  return found;
}

describe("the rules", () => {
  it("see the sources", () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(tests.length).toBeGreaterThan(5);
    expect(new Set(sources.map((file) => packageOf(file.path)))).toEqual(new Set(Object.keys(packageDirections)));
    expect(sources.flatMap((file) => file.imports).length).toBeGreaterThan(100);
  });

  it("refuse what they are there to refuse", () => {
    const file = (path: string, text: string): SourceFile[] => [parseSource(path, text)];
    const kernel = `${kernelFolder}normalize/x.ts`;
    expect(packageViolations(file(kernel, `import { z } from "zod";`))).toHaveLength(1);
    expect(packageViolations(file(kernel, `import { z } from "node:fs";`))).toHaveLength(1);
    expect(packageViolations(file(kernel, `export * from "@keyhole/edge";`))).toHaveLength(1);
    expect(packageViolations(file(kernel, `const x = await import("../../../edge/src/x.ts");`))).toHaveLength(1);
    expect(packageViolations(file("packages/worker-host/src/tools/x.ts", `import "node:fs";`))).toHaveLength(1);
    expect(packageViolations(file("packages/worker-host/src/node/x.ts", `import "node:fs";`))).toEqual([]);
    expect(kernelViolations(file(kernel, `import { a } from "../policy/a.ts";`))).toHaveLength(1);
    expect(kernelViolations(file(kernel, `type A = import("../policy/a.ts").A;`))).toHaveLength(1);
    expect(kernelViolations(file(`${kernelFolder}tool/x.ts`, `import type { A } from "../isolate/a.ts";`))).toEqual([]);
    expect(kernelViolations(file(`${kernelFolder}tool/x.ts`, `import { a } from "../isolate/a.ts";`))).toHaveLength(1);
    expect(kernelViolations(file(`${kernelFolder}unknown/x.ts`, ``))).toHaveLength(1);
    const circle = [parseSource("p/a.ts", `import "./b.ts";`), parseSource("p/b.ts", `export * from "./a.ts";`)];
    expect(cycles(circle)).toEqual(["p/a.ts → p/b.ts → p/a.ts"]);
    const banned = parseSource(
      "x.ts",
      `let a: any;\nenum B {}\nnamespace C {}\n// @ts-ignore\ndeclare module "d" {}`,
    ).banned;
    expect(banned).toEqual(["any at line 1", "enum at line 2", "namespace at line 3", "@ts-ignore at line 4"]);
  });
});

describe("imports", () => {
  it("between packages go one way, and each package declares what it uses", () => {
    expect(packageViolations(sources)).toEqual([]);
  });

  it("of the kernel name no package at all", () => {
    const kernel = sources.filter((file) => packageOf(file.path) === "kernel");
    expect(kernel.flatMap((file) => file.imports).filter(({ specifier }) => !specifier.startsWith("."))).toEqual([]);
    expect(declaredDependencies("kernel")).toEqual(new Set());
  });

  it("between the kernel's folders follow the way of a call", () => {
    expect(kernelViolations(sources.filter((file) => packageOf(file.path) === "kernel"))).toEqual([]);
  });

  it("form no cycle", () => {
    expect(cycles([...sources, ...tests])).toEqual([]);
  });
});

describe("files", () => {
  it(`have at most ${maxLines} lines`, () => {
    const long = [...sources, ...tests].filter((file) => file.lineCount > maxLines);
    expect(long.map((file) => `${file.path}: ${file.lineCount}`)).toEqual([]);
  });

  it("do without any, enum, namespace and @ts-ignore", () => {
    const banned = [...sources, ...tests].flatMap((file) => file.banned.map((what) => `${file.path}: ${what}`));
    expect(banned).toEqual([]);
  });
});

describe("error codes", () => {
  const codes: readonly string[] = [...errorCodes, ...setupErrorCodes];

  it.each(codes)("%s has a page", (code) => {
    expect(existsSync(`${root}docs/errors/${code}.md`)).toBe(true);
  });

  it("have no page without a code", () => {
    const pages = globSync("docs/errors/*.md", { cwd: root }).map((path) => basename(path, ".md"));
    expect(pages.filter((page) => page !== "README" && !codes.includes(page))).toEqual([]);
  });
});

describe("dependencies", () => {
  const manifests = ["package.json", ...Object.keys(packageDirections).map((name) => `packages/${name}/package.json`)];

  it.each(manifests)("%s pins exact versions", (path) => {
    const manifest = JSON.parse(readFileSync(root + path, "utf8")) as Record<
      string,
      Record<string, string> | undefined
    >;
    const ranges = ["dependencies", "devDependencies", "optionalDependencies"]
      .flatMap((field) => Object.entries(manifest[field] ?? {}))
      .filter(([, version]) => !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version));
    expect(ranges).toEqual([]);
  });

  it("come from whatever registry is set: the lock names none", () => {
    const lock = JSON.parse(readFileSync(`${root}package-lock.json`, "utf8")) as {
      readonly packages: Readonly<Record<string, { readonly resolved?: string }>>;
    };
    const entries = Object.values(lock.packages);
    expect(entries.length).toBeGreaterThan(100);
    expect(entries.filter(({ resolved }) => resolved?.includes("://"))).toEqual([]);
  });
});
