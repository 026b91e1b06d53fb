import { expect } from "vitest";
import { descendants, isRunning } from "../../scripts/serve/processes.mjs";
import type { OwnEdge } from "./own-edge.ts";

/** Each process of the edge that may die. A proxy holds the port, the runtime runs the Worker behind it, and wrangler started both. */
export const parts = [
  ["the kernel's runtime", 0, /workerd\S* serve .*debug-port/],
  ["the sandbox's runtime", 1, /workerd\S* serve .*debug-port/],
  ["the kernel's proxy", 0, /workerd\S* serve (?!.*debug-port)/],
  ["the sandbox's proxy", 1, /workerd\S* serve (?!.*debug-port)/],
  ["the kernel's wrangler", 0, /serve\/worker\.mjs/],
  ["the sandbox's wrangler", 1, /serve\/worker\.mjs/],
] as const;

export type Part = (typeof parts)[number];

/** The process that is this part now. */
export function find({ edge }: Pick<OwnEdge, "edge">, [, unit, command]: Part): number | undefined {
  const guard = edge.pids()[unit]!;
  // The guard has the command that it guards among its arguments.
  return descendants(guard).find((each) => command.test(each.command) && !each.command.includes("guard.mjs"))?.pid;
}

/** Kills one part, and waits until another one is in its place. */
export async function killed(own: OwnEdge, part: Part): Promise<void> {
  const pid = find(own, part);
  if (pid === undefined) throw new Error(`${part[0]} does not run`);
  process.kill(pid, "SIGKILL");
  await expect.poll(() => isRunning(pid)).toBe(false);
  await expect.poll(() => find(own, part) ?? pid).not.toBe(pid);
}

/** Waits until a call is served, and each part runs. */
export async function untilServing(own: OwnEdge): Promise<void> {
  const call = async (): Promise<number> =>
    own.call("calculator", { expression: "6 * 7" }, { cache: false }).catch(() => 0);
  await expect
    .poll(async () => [await call(), ...parts.map((part) => find(own, part) !== undefined)])
    .toEqual([200, ...parts.map(() => true)]);
  await expect.poll(async () => (await fetch(`${own.edge.url}/healthz`).catch(() => undefined))?.status).toBe(200);
}
