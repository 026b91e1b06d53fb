import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { runtimeRows } from "../../runtimes/table.ts";
import { packedApp, removePackedApps } from "../../support/packed-app.ts";
import { root } from "../../support/sources.ts";

/*
 * The build writes declarations without a check of types: here a strict program reads all of them. Faults of foreign declarations
 * do not count: those of the MCP SDK name Node's Buffer, which a Worker's types lack. The templates skip all declarations.
 */

afterAll(removePackedApps);

const specifiers = runtimeRows().map(({ specifier }) => specifier);
/** All of the edge but what starts it on Node needs the types of Workers. */
const isOnWorkers = (specifier: string): boolean => /^@keyhole\/edge(?!\/dev$)/.test(specifier);
const onWorkers = specifiers.filter(isOnWorkers);
const elsewhere = specifiers.filter((specifier) => !isOnWorkers(specifier));

const program = (of: readonly string[]): string =>
  of.map((specifier, i) => `import type * as m${i} from "${specifier}";\nexport type T${i} = typeof m${i};\n`).join("");

async function compile(
  module: string,
  moduleResolution: string,
  options: object,
  text: string,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const strict = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
  };
  const compilerOptions = { ...strict, target: "es2024", noEmit: true, module, moduleResolution, ...options };
  const files = { ...more, "main.ts": text, "tsconfig.json": JSON.stringify({ compilerOptions, files: ["main.ts"] }) };
  const app = packedApp(files, ["@types/node", "@cloudflare/workers-types"]);
  const ended = run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", app], { cwd: app });
  return ended.then(
    () => "",
    (error: { stdout: string }) => ownFaults(error.stdout),
  );
}

/** What the compiler says of the program and of our packages: foreign ones are links that lead out of the program's folder. */
function ownFaults(said: string): string {
  const faults = said.split(/\n(?! )/);
  return faults.filter((fault) => !fault.startsWith("../")).join("\n");
}

const run = promisify(execFile);

describe.each([
  ["nodenext", "nodenext"],
  ["esnext", "bundler"],
])("a program with modules of %s, resolved as %s", (module, resolution) => {
  it("compiles with every export of kernel and worker-host", async () => {
    const options = {
      lib: ["es2024", "dom", "dom.iterable", "dom.asynciterable"],
      types: ["node", "keyhole/client"],
    };
    expect(await compile(module, resolution, options, program(elsewhere))).toBe("");
  });

  it("compiles with edge", async () => {
    const options = { lib: ["es2024", "esnext.disposable"], types: ["@cloudflare/workers-types"] };
    expect(await compile(module, resolution, options, program(onWorkers))).toBe("");
  });

  it("registers a package that it imports as JSON, and no JSON that is none", async () => {
    const options = { types: ["node"], resolveJsonModule: true };
    const echo = {
      manifest: {
        name: "echo",
        version: "1.0.0",
        tier: 1,
        source: "module",
        capabilities: [{ kind: "net.read", hosts: ["*"] }],
      },
      code: "",
      hash: "blake3:",
    };
    const text = `import { createKernel } from "@keyhole/kernel";
import echo from "./echo.json" with { type: "json" };
export const registered = (await createKernel()).register(echo);
`;
    expect(await compile(module, resolution, options, text, { "echo.json": JSON.stringify(echo) })).toBe("");
    expect(await compile(module, resolution, options, text, { "echo.json": '{"code":""}' })).toContain("TS2345");
  });

  it("does not compile where an export is not used as it is declared", async () => {
    const wrong = 'import { createKernel } from "@keyhole/kernel";\nvoid createKernel({ polcy: 1 });\n';
    expect(await compile(module, resolution, { types: ["node"] }, wrong)).toContain("polcy");
  });
});
