import { nodeHost } from "@keyhole/worker-host/node";
import { expect, it } from "vitest";
import subject from "../contract/tools/subject.ts?tool";
import { chaos } from "./chaos.ts";

/** `npm run chaos` asks for more. */
const rounds = Number(process.env["KEYHOLE_CHAOS_ROUNDS"] ?? 100);
const seed = Number(process.env["KEYHOLE_CHAOS_SEED"] ?? 20_261_121);

const portsOpen = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "MessagePort").length;

it(`${rounds} rounds of chaos on threads of Node end well, from seed ${seed}`, { timeout: 1_200_000 }, async () => {
  const rejections: unknown[] = [];
  const note = (reason: unknown): void => void rejections.push(reason);
  process.on("unhandledRejection", note);
  const before = portsOpen();
  await chaos(nodeHost({ trusted: [subject.hash] }), { seed, rounds });
  await expect.poll(portsOpen, { timeout: 10_000 }).toBeLessThanOrEqual(before);
  process.off("unhandledRejection", note);
  expect(rejections).toEqual([]);
});
