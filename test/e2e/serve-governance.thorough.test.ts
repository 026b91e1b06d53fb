import { setTimeout as delay } from "node:timers/promises";
import type { AuditEvent } from "@keyhole/kernel";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnEdge, startOwnEdge } from "./own-edge.ts";
import { decisions, expectDoneOnce, govern, governed, policy } from "./serve-governance.ts";

/** workerd lets go of an object that nobody asks after 70 to 140 s. */
const silenceMs = 170_000;

let own: OwnEdge;
// Nobody asks about the health of this tenant.
beforeAll(async () => void (own = await startOwnEdge(undefined, policy, "quiet")));
afterAll(() => own?.edge.stop());

/** How often the kernel of the tenant was opened: each time it registers its tools. */
async function openings(): Promise<number> {
  const headers = { authorization: "Bearer own-token" };
  const response = await fetch(`${own.edge.url}/v1/audit?from=0&limit=1000`, { headers });
  const { events } = (await response.json()) as { readonly events: readonly AuditEvent[] };
  return events.filter(({ type, payload }) => type === "tool.registered" && JSON.stringify(payload).includes('"echo@'))
    .length;
}

it("decides after an eviction as before: 170 s without a request", async () => {
  await govern(own);
  const before = await openings();
  await delay(silenceMs);
  expect(await decisions(own)).toEqual(governed);
  await expectDoneOnce(own);
  // Otherwise nothing was evicted, and this says nothing.
  expect(await openings()).toBe(before + 1);
}, 400_000);
