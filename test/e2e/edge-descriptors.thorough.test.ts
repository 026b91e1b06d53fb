import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type OwnEdge, startOwnEdge } from "./own-edge.ts";

let own: OwnEdge;
beforeAll(async () => void (own = await startOwnEdge()));
afterAll(() => own?.edge.stop());

const clients = 4;
/** By then caches are full, and every pool has its size. */
const warmUpCalls = 5_000;
const allCalls = 20_000;

const descriptors = (): number[] => own.runtimes().map((pid) => readdirSync(`/proc/${pid}/fd`).length);

const residentKib = (): number[] =>
  own.runtimes().map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]));

/** Half of them in sessions of their own. A slow machine may not serve all in time; those leave nothing behind either. */
async function callUntil(calls: number, from: number): Promise<void> {
  let next = from;
  let served = 0;
  const client = async (id: number): Promise<void> => {
    for (let i = next++; i < calls; i = next++) {
      const sessionId = i % 2 === 0 ? `client ${id}` : crypto.randomUUID();
      if ((await own.call("kv_get", { key: "workspace/a" }, { sessionId })) === 200) served++;
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, id) => client(id)));
  expect(served).toBeGreaterThan((calls - from) / 2);
}

it("holds no descriptor and no memory of 20,000 calls that have ended", { timeout: 900_000 }, async () => {
  await callUntil(warmUpCalls, 0);
  const before = descriptors();
  await callUntil(allCalls, warmUpCalls);
  for (const [at, count] of before.entries())
    await expect.poll(() => descriptors()[at]! - count, { timeout: 30_000 }).toBeLessThanOrEqual(5);
  const afterCalls = residentKib();
  await delay(60_000);
  for (const [at, kib] of residentKib().entries()) expect(kib).toBeLessThanOrEqual(afterCalls[at]! * 1.1);
  expect(own.edge.sandboxKills).toBe(0);
});
