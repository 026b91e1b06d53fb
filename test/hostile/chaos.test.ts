import { nodeHost } from "@keyhole/worker-host/node";
import { expect, it } from "vitest";
import bystander from "../contract/tools/bystander.ts?tool";
import subject from "../contract/tools/subject.ts?tool";
import { chaos, type ChaosReport } from "./chaos.ts";

/** `npm run chaos` asks for more. */
const rounds = Number(process.env["KEYHOLE_CHAOS_ROUNDS"] ?? 100);
const seed = Number(process.env["KEYHOLE_CHAOS_SEED"] ?? 20_261_121);

/** For `npm run chaos`: the bar is that others notice at most twice the quiet time, and a busy machine is no failure. */
function tell({ calls, ends, quietP99Ms, chaosP99Ms }: ChaosReport): void {
  const counted = Object.entries(ends).map(([code, count]) => `${count} ${code}`);
  process.stdout.write(`${calls} calls: ${counted.join(", ")}\n`);
  const ratio = (chaosP99Ms / quietP99Ms).toFixed(1);
  process.stdout.write(
    `another tool's p99: ${quietP99Ms.toFixed(2)} ms quiet, ${chaosP99Ms.toFixed(2)} ms beside it, ${ratio} × (bar: 2 ×)\n`,
  );
}

const portsOpen = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "MessagePort").length;

it(`${rounds} rounds of chaos on threads of Node end well, from seed ${seed}`, { timeout: 1_200_000 }, async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on("unhandledRejection", note);
  const before = portsOpen();
  const report = await chaos(nodeHost({ trusted: [subject.hash, bystander.hash] }), { seed, rounds });
  if (process.env["KEYHOLE_CHAOS_ROUNDS"] !== undefined) tell(report);
  await expect.poll(portsOpen, { timeout: 10_000 }).toBeLessThanOrEqual(before);
  process.off("unhandledRejection", note);
  expect(rejections).toEqual([]);
});
