import { afterAll, beforeAll, expect, it } from "vitest";
import { servePage, type Site } from "./playground/site.ts";
import { choose, endOf, field, hashOf, run, Visits } from "./playground/visitor.ts";

let site: Site;
let visits: [Visits, Visits];

beforeAll(async () => {
  site = await servePage();
  visits = await Promise.all([Visits.apart(), Visits.apart()]);
});

afterAll(async () => {
  await Promise.all(visits.map((each) => each.close()));
  await site.close();
});

it("gives the same hash for the same input, also in another browser", async () => {
  const hashes = await Promise.all(
    visits.map(async (each) => {
      const { page } = await each.visit(site.origin);
      await choose(page, "calculator");
      await field(page, "expression").fill("2^10 - sqrt(16)");
      await run(page);
      await endOf(page);
      return hashOf(page);
    }),
  );
  expect(hashes[0]).toMatch(/^blake3:/);
  expect(hashes[1]).toBe(hashes[0]);
});
