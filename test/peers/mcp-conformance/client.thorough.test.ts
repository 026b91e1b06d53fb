import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conformance } from "./conformance.ts";
import { failing } from "./failing.ts";

/*
 * The suite starts all scenarios at once, each with a client of its own. One file loads in a fraction of the time that the
 * sources take, and the suite's own deadlines then hold on a busy machine too.
 */
let folder: string;
let client: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keyhole-client-"));
  client = join(folder, "client.mjs");
  await build({
    entryPoints: [fileURLToPath(new URL("client.ts", import.meta.url))],
    outfile: client,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    conditions: ["keyhole-source", "module", "import"],
    mainFields: ["module", "main"],
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url);` },
  });
});
afterAll(() => rm(folder, { recursive: true }));

describe.each([
  ["2026-07-28", 39],
  ["2025-11-25", 25],
] as const)("the source, by the requirements of %s", (revision, count) => {
  it("passes all scenarios but those listed", { timeout: 600_000 }, async () => {
    const { scenarios, output } = await conformance([
      "client",
      "--command",
      `${process.execPath} ${client}`,
      "--requirements",
      revision,
    ]);
    expect(scenarios.length, output.slice(-2_000)).toBe(count);
    const failed = scenarios.filter((scenario) => scenario.failed.length > 0).map(({ name }) => name);
    const { scored, unscored } = failing.client;
    const expected = [...Object.keys(scored[revision] ?? {}), ...Object.keys(unscored)];
    expect(failed.toSorted()).toEqual(expected.toSorted());
  });
});
