import { afterAll, beforeAll, expect, it } from "vitest";
import { expectNoneLeft } from "./edge-descriptors.ts";
import { type OwnEdge, startOwnEdge } from "./own-edge.ts";

let own: OwnEdge;
beforeAll(async () => void (own = await startOwnEdge()));
afterAll(() => own?.edge.stop());

it("holds no descriptor of 600 calls that have ended", async () => {
  await expectNoneLeft(own, 600);
  expect(own.edge.sandboxKills).toBe(0);
});
