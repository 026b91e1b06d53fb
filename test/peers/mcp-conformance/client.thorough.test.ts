import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { conformance } from "./conformance.ts";
import { failing } from "./failing.ts";

const client = fileURLToPath(new URL("client.ts", import.meta.url));

describe.each([
  ["2026-07-28", 39],
  ["2025-11-25", 25],
] as const)("the source, by the requirements of %s", (revision, count) => {
  it("passes all scenarios but those listed", { timeout: 600_000 }, async () => {
    const { scenarios, output } = await conformance([
      "client",
      "--command",
      `${process.execPath} --conditions=keyhole-source ${client}`,
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
