import { afterAll, beforeAll, expect, it } from "vitest";
import { sized } from "../support/size.ts";
import { type OwnEdge, startOwnEdge } from "./own-edge.ts";
import { decisions, expectDoneOnce, govern, governed, mode, policy } from "./serve-governance.ts";
import { killed, untilServing } from "./serve-recovery.ts";

let own: OwnEdge;
beforeAll(async () => void (own = await startOwnEdge(undefined, policy)));
afterAll(() => own?.edge.stop());

it("decides after each SIGKILL of its kernel as before", async () => {
  await govern(own);
  for (let death = 0; death < sized(1, 2); death++) {
    await killed(own, "kernel");
    await untilServing(own);
    expect(await decisions(own)).toEqual(governed);
    await expectDoneOnce(own);
  }
  expect((await mode(own, { mode: "DEGRADED", reason: "A drill." })).status).toBe(200);
  await killed(own, "kernel");
  await untilServing(own);
  expect(await (await mode(own)).json()).toEqual({ mode: "DEGRADED" });
});
