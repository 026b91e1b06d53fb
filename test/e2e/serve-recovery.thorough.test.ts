import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnEdge, startOwnEdge } from "./own-edge.ts";
import { killed, parts, untilServing } from "./serve-recovery.ts";

let own: OwnEdge;
let failure: string | undefined;
beforeAll(async () => {
  own = await startOwnEdge();
  void own.edge.failed.then((reason) => (failure = reason));
});
afterAll(() => own?.edge.stop());

it.each([1, 2, 3])("serves again after each part was killed in turn, round %d", async () => {
  for (const part of parts) {
    await killed(own, part);
    await untilServing(own);
  }
  expect(failure).toBeUndefined();
});

it("serves again after two parts were killed at once, whichever", async () => {
  for (const [i, one] of parts.entries())
    for (const other of parts.slice(i + 1)) {
      await Promise.all([killed(own, one), killed(own, other)]);
      await untilServing(own);
    }
  expect(failure).toBeUndefined();
});
