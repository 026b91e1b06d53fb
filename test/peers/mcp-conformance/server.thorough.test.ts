import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conformance } from "./conformance.ts";
import { type Fixture, startFixture } from "./fixture.ts";
import { failing } from "./failing.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(async () => {
  await fixture.server.close();
  await fixture.kernel.close();
});

describe.each([
  ["2026-07-28", 37, 13],
  ["2025-11-25", 30, 3],
] as const)("our server, by the requirements of %s", (revision, scored, others) => {
  it(`passes all ${scored} scored scenarios, and of the others all but those listed`, async () => {
    const { scenarios, output } = await conformance([
      "server",
      "--url",
      fixture.server.url,
      "--requirements",
      revision,
    ]);
    expect(scenarios.length, output.slice(-2_000)).toBe(scored + others);
    const failed = scenarios.filter((scenario) => scenario.failed.length > 0).map(({ name }) => name);
    expect(failed.toSorted()).toEqual(revision === "2026-07-28" ? Object.keys(failing.server).toSorted() : []);
  });
});
