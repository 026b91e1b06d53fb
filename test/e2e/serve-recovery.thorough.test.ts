import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { randomFrom } from "../support/random.ts";
import { type OwnEdge, startOwnEdge } from "./own-edge.ts";
import { killed, type Part, untilServing } from "./serve-recovery.ts";

let own: OwnEdge;
let failure: string | undefined;
beforeAll(async () => {
  own = await startOwnEdge();
  void own.edge.failed.then((reason) => (failure = reason));
});
afterAll(() => own?.edge.stop());

const clients = 4;
const rounds = 50;

/** Calls for as long as it is let, half of them in sessions of their own. What a death hits fails. */
function load(): () => Promise<void> {
  let going = true;
  const client = async (id: number): Promise<void> => {
    for (let i = 0; going; i++) {
      const sessionId = i % 2 === 0 ? `client ${id}` : crypto.randomUUID();
      await own.call("kv_get", { key: "workspace/a" }, { sessionId }).catch(() => 0);
    }
  };
  const all = Array.from({ length: clients }, (_, id) => client(id));
  return async () => {
    going = false;
    await Promise.all(all);
  };
}

it.each<Part>(["sandbox", "kernel"])("serves again after 50 deaths of the %s under load", async (part) => {
  const random = randomFrom(7);
  const end = load();
  const tookMs: number[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      await delay(random() * 400);
      const atMs = performance.now();
      await killed(own, part);
      await untilServing(own);
      tookMs.push(performance.now() - atMs);
      expect(failure).toBeUndefined();
    }
  } finally {
    await end();
  }
  tookMs.sort((one, other) => one - other);
  const at = (share: number): string => `${Math.round(tookMs[Math.ceil(share * rounds) - 1]!)} ms`;
  process.stdout.write(
    `${part}: ${rounds} deaths, served again after p50 ${at(0.5)}, p90 ${at(0.9)}, ${at(1)} at most\n`,
  );
});

it("serves again after any order of deaths in quick succession", async () => {
  const random = randomFrom(8);
  for (let round = 0; round < rounds; round++) {
    const order = Array.from(
      { length: 3 },
      () => (["kernel", "sandbox", "keeper"] as const)[Math.floor(random() * 3)]!,
    );
    for (const part of order) await killed(own, part);
    await untilServing(own);
    expect(failure, order.join(", ")).toBeUndefined();
  }
});
