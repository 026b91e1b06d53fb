import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conformance } from "./conformance.ts";
import { type Fixture, startFixture } from "./fixture.ts";
import { failing } from "./failing.ts";

let fixture: Fixture;
const close = async ({ server, kernel }: Fixture): Promise<void> => {
  await server.close();
  await kernel.close();
};
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(() => close(fixture));

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

it("passes the scenario that reads streams, however busy the machine is", async () => {
  // Longer than the suite reads a stream.
  const late = await startFixture(1_200);
  const words = ["--url", late.server.url, "--scenario", "server-stateless", "--spec-version", "2026-07-28"];
  const { scenarios, output } = await conformance(["server", ...words]);
  await close(late);
  expect(
    scenarios.map(({ failed }) => failed),
    output.slice(-2_000),
  ).toEqual([[]]);
});
