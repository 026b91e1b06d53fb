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

/** More than a slow machine needs: each call is served, so that each had its session and its isolate. */
const bounds = { timeoutMs: 30_000 };

/** Half of them in sessions of their own. */
async function callUntil(calls: number, from: number): Promise<void> {
  let next = from;
  const statuses = new Map<number, number>();
  const client = async (id: number): Promise<void> => {
    for (let i = next++; i < calls; i = next++) {
      const sessionId = i % 2 === 0 ? `client ${id}` : crypto.randomUUID();
      const status = await own.call("kv_get", { key: "workspace/a" }, { sessionId, bounds });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, id) => client(id)));
  expect([...statuses]).toEqual([[200, calls - from]]);
}

it("holds no descriptor and no memory of 20,000 calls that have ended", { timeout: 900_000 }, async () => {
  await callUntil(warmUpCalls, 0);
  const before = descriptors();
  await callUntil(allCalls, warmUpCalls);
  for (const [at, count] of before.entries())
    await expect.poll(() => descriptors()[at]! - count, { timeout: 30_000 }).toBeLessThanOrEqual(5);
  const afterCalls = residentKib();
  await delay(60_000);
  process.stdout.write(
    `descriptors ${before.join(" ")} -> ${descriptors().join(" ")}, resident ${afterCalls.join(" ")} -> ${residentKib().join(" ")} KiB\n`,
  );
  for (const [at, kib] of residentKib().entries()) expect(kib).toBeLessThanOrEqual(afterCalls[at]! * 1.1);
  expect(own.edge.sandboxKills).toBe(0);
});
