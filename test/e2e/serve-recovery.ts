import { expect } from "vitest";
import type { OwnEdge } from "./own-edge.ts";

/** Each process of the edge that may die. */
export const parts = ["kernel", "sandbox", "keeper"] as const;

export type Part = (typeof parts)[number];

/** The processes that are this part now. */
function pidsOf({ edge: { pids } }: Pick<OwnEdge, "edge">, part: Part): readonly (number | undefined)[] {
  return part === "sandbox" ? pids.sandboxes : [pids[part]];
}

/** Kills all of one part with SIGKILL as soon as they run, and resolves when others are in their places, which may still be starting. */
export async function killed(own: Pick<OwnEdge, "edge">, part: Part): Promise<void> {
  const fast = { interval: 5 };
  const running = (): number[] => pidsOf(own, part).filter((pid) => pid !== undefined);
  await expect.poll(() => running().length, fast).toBe(pidsOf(own, part).length);
  const dying = running();
  for (const pid of dying) process.kill(pid, "SIGKILL");
  const others = (): number[] => running().filter((pid) => !dying.includes(pid));
  await expect.poll(() => others().length, fast).toBe(dying.length);
}

/** Waits until a call is served in a new isolate, and every part runs. */
export async function untilServing(own: OwnEdge): Promise<void> {
  const call = (): Promise<number> =>
    own.call("kv_get", { key: "workspace/a" }, { sessionId: crypto.randomUUID() }).catch(() => 0);
  await expect.poll(call, { interval: 10 }).toBe(200);
  await expect.poll(() => parts.filter((part) => pidsOf(own, part).includes(undefined))).toEqual([]);
  await expect.poll(async () => (await fetch(`${own.edge.url}/healthz`).catch(() => undefined))?.status).toBe(200);
}
