import { readdirSync } from "node:fs";
import { expect } from "vitest";
import type { OwnEdge } from "./own-edge.ts";

/** A pool of connections comes and goes; a leak adds up. */
const spare = 24;

function descriptorsOf({ runtimes }: OwnEdge): number {
  return runtimes().reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0);
}

/** Calls a tool whose result is not cached, each time in a session of its own, and compares what is open before and after. */
export async function expectNoneLeft(own: OwnEdge, calls: number): Promise<void> {
  const call = (i: number): Promise<number> =>
    own.call("kv_get", { key: `workspace/${i}` }, { sessionId: `session ${i}` });
  for (let i = -3; i < 0; i++) expect(await call(i)).toBe(200);
  const before = descriptorsOf(own);
  for (let i = 0; i < calls; i++) expect(await call(i)).toBe(200);
  await expect.poll(() => descriptorsOf(own) - before).toBeLessThan(spare);
}
