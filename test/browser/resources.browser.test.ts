import { pageResources } from "@keyhole/worker-host/browser";
import { expect, it } from "vitest";

it("a page says how much it may still store", async () => {
  expect(await pageResources().freeSpaceBytes?.()).toBeGreaterThan(0);
});
