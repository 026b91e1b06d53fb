import { partitionOf } from "../../packages/bus/src/wire/subjects.ts";
import { type CallResult, hashText } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { afterwards, closeAfterEach } from "../mcp/support.ts";
import { sized, thorough } from "../support/size.ts";
import { KernelProcesses } from "./nats-kernels.ts";
import { NatsServer, natsServerPath } from "./nats-server.ts";
import { type Calling, calling, key } from "./support.ts";

const kernelCount = 3;

/** A kernel that calls as the credential `cN`. */
async function caller(server: NatsServer, at: number): Promise<Calling> {
  const near = await calling(await server.bus(), {
    credential: { id: `c${at}`, key: key(at + 1) },
    expect: ["pay", "die"],
    callsPerHour: 1_000_000,
    askMs: 200,
  });
  afterwards(() => near.source.close());
  return near;
}

/** What the caller was told of a call. */
function outcomeOf(result: CallResult): "ok" | "not run" | "unknown" | "failed" {
  if (result.ok) return "ok";
  const { message } = result.error;
  if (message.startsWith("It is unknown whether the call ran")) return "unknown";
  return message.startsWith("Nothing ran.") ? "not run" : "failed";
}

/** Which kernel owns a key of the caller `anonymous`. */
function ownerOf(idempotencyKey: string): number {
  return partitionOf(hashText(JSON.stringify(["anonymous", idempotencyKey])).slice(-64)) % kernelCount;
}

describe.skipIf(natsServerPath === undefined)("a kernel that dies while it runs a call", () => {
  closeAfterEach();

  it("with a key leaves an unknown outcome, also for the same key again, and nothing runs twice", async () => {
    const server = await NatsServer.open();
    const kernels = await KernelProcesses.open(server.url, kernelCount, 1);
    const [one, two] = [await caller(server, 0), await caller(server, 0)];
    const options = { idempotencyKey: "order 7" };
    const first = one.call("die", { id: "7" }, options);
    await kernels.died(ownerOf("order 7"));
    const second = two.call("die", { id: "7" }, options);
    await kernels.start(ownerOf("order 7"));
    expect(outcomeOf(await first)).toBe("unknown");
    expect(outcomeOf(await second)).toBe("unknown");
    expect([...(await kernels.deeds())]).toEqual([["7", 1]]);
  });

  if (thorough) {
    it("without a key leaves an unknown outcome, and another kernel runs the next call", async () => {
      const server = await NatsServer.open();
      const kernels = await KernelProcesses.open(server.url, kernelCount, 1);
      const near = await caller(server, 0);
      expect(outcomeOf(await near.call("die", { id: "8" }))).toBe("unknown");
      expect(await near.call("pay", { id: "9" })).toMatchObject({ ok: true, data: "paid 9" });
      expect(Object.fromEntries(await kernels.deeds())).toEqual({ 8: 1, 9: 1 });
    });
  }

  if (thorough) {
    it("makes calls with its keys wait until it is there again", async () => {
      const server = await NatsServer.open();
      const kernels = await KernelProcesses.open(server.url, kernelCount, 1);
      const near = await caller(server, 0);
      await kernels.kill(ownerOf("order 1"));
      const call = near.call("pay", { id: "1" }, { idempotencyKey: "order 1" });
      expect(await near.call("pay", { id: "2" })).toMatchObject({ ok: true });
      expect(Object.fromEntries(await kernels.deeds())).toEqual({ 2: 1 });
      await kernels.start(ownerOf("order 1"));
      expect(await call).toMatchObject({ ok: true, data: "paid 1" });
    });
  }
});

/** A call of the load: each key is called twice, through two kernels. */
interface Planned {
  readonly id: string;
  readonly near: Calling;
  readonly idempotencyKey?: string;
}

describe.skipIf(natsServerPath === undefined)(
  "three kernels under load, while the server and kernels are killed",
  () => {
    closeAfterEach();
    const [count, serverKills, kernelKills] = sized([200, 1, 1], [10_000, 5, 2]);
    const credentials = 4;

    function plan(nears: readonly Calling[]): readonly Planned[] {
      return Array.from({ length: count }, (_, at) => {
        const isKeyed = at % 5 !== 0;
        const pair = Math.floor(at / 10);
        // Within ten calls the places 1 to 4 and 6 to 9 have the same keys, and callers of one credential.
        const id = isKeyed ? `k${pair}-${at % 5}` : `u${at}`;
        const credential = pair % credentials;
        const near = nears[credential * 2 + (at % 10 < 5 ? 0 : 1)]!;
        return { id, near, ...(isKeyed && { idempotencyKey: id }) };
      });
    }

    it("gives each call an outcome that is true, and runs no key twice", async () => {
      const server = await NatsServer.open();
      const kernels = await KernelProcesses.open(server.url, kernelCount, credentials);
      const nears: Calling[] = [];
      for (let at = 0; at < credentials * 2; at++) nears.push(await caller(server, Math.floor(at / 2)));
      const planned = plan(nears);
      const outcomes = new Map<Planned, ReturnType<typeof outcomeOf>>();
      const kills = [
        ...Array.from({ length: serverKills }, (_, at) => ({
          after: (count * (at + 1)) / (serverKills + 2),
          kernel: -1,
        })),
        ...Array.from({ length: kernelKills }, (_, at) => ({
          after: (count * (at + 0.5)) / (kernelKills + 1),
          kernel: at,
        })),
      ].toSorted((a, b) => a.after - b.after);
      const killing: Promise<void>[] = [];
      const work = planned.values();
      const kill = async (kernel: number): Promise<void> => {
        if (kernel < 0) {
          await server.kill();
          await server.start();
        } else {
          await kernels.kill(kernel);
          await kernels.start(kernel);
        }
      };
      const worker = async (): Promise<void> => {
        for (const call of work) {
          const { id, near, idempotencyKey } = call;
          const more = idempotencyKey === undefined ? {} : { idempotencyKey };
          outcomes.set(call, outcomeOf(await near.call("pay", { id }, { waitMs: 900_000, ...more })));
          const [next] = kills;
          if (next && outcomes.size >= next.after) {
            kills.shift();
            killing.push(kill(next.kernel));
          }
        }
      };
      await Promise.all(Array.from({ length: 64 }, worker));
      await Promise.all(killing);
      expect(outcomes.size).toBe(count);
      expect(killing).toHaveLength(serverKills + kernelKills);
      const deeds = await kernels.deeds();
      const twice = [...deeds].filter(([, times]) => times > 1);
      expect(twice).toEqual([]);
      const untrue = planned.filter((call) => {
        const times = deeds.get(call.id) ?? 0;
        const outcome = outcomes.get(call);
        if (outcome === "ok") return times !== 1;
        // Of two calls under one key the other one may have run it.
        return outcome === "failed" || (outcome === "not run" && call.idempotencyKey === undefined && times !== 0);
      });
      expect(untrue.map(({ id }) => id)).toEqual([]);
    });
  },
);
