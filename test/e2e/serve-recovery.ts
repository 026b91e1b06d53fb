import { expect } from "vitest";
import type { OwnEdge } from "./own-edge.ts";

/** Each process of the edge that may die. */
export const parts = ["kernel", "sandbox", "keeper"] as const;

export type Part = (typeof parts)[number];

/** Kills one part with SIGKILL as soon as it runs, and resolves when another one is in its place, which may still be starting. */
export async function killed({ edge }: Pick<OwnEdge, "edge">, part: Part): Promise<void> {
  const fast = { interval: 5 };
  await expect.poll(() => edge.pids[part], fast).toBeDefined();
  const pid = edge.pids[part]!;
  process.kill(pid, "SIGKILL");
  await expect.poll(() => edge.pids[part] ?? pid, fast).not.toBe(pid);
}

/** Waits until a call is served in a new isolate, and every part runs. */
export async function untilServing(own: OwnEdge): Promise<void> {
  const call = (): Promise<number> =>
    own.call("kv_get", { key: "workspace/a" }, { sessionId: crypto.randomUUID() }).catch(() => 0);
  await expect.poll(call, { interval: 10 }).toBe(200);
  await expect.poll(() => parts.filter((part) => own.edge.pids[part] === undefined)).toEqual([]);
  await expect.poll(async () => (await fetch(`${own.edge.url}/healthz`).catch(() => undefined))?.status).toBe(200);
}
