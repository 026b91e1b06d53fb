import { type Broker, hashBytes, hashJson, type ToolContext } from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { nodeHost } from "@keyhole/worker-host/node";
import { describe, expect, it } from "vitest";
import subject from "keyhole:../contract/tools/subject.ts";
import { type Bench, expectSoundLog, granting, openKernel, toolOf } from "../support/kernel.ts";
import { sized } from "../support/size.ts";
import { countTurns } from "../support/turns.ts";

const policy = granting({ kind: "fs.read", paths: ["**"] });

const PIECES = sized(4, 8);
const large = (): Uint8Array => new Uint8Array(PIECES * 524_288).fill(1);

/** Answers at once, always with the same memory. */
function brokerOf(body: Uint8Array, onServed: () => void): Broker {
  return {
    families: [fsRead],
    needs: () => ({ ok: true, needs: [{ kind: "fs.read", path: "a" }] }),
    async serve() {
      onServed();
      return { ok: true, value: null, body };
    },
  };
}

interface Reader extends Bench {
  /** What the tool was given. */
  readonly given: Uint8Array[];
  readonly uses: () => Promise<readonly unknown[]>;
}

async function reader(body: Uint8Array, onServed: () => void): Promise<Reader> {
  const bench = await openKernel({ policy, brokers: [brokerOf(body, onServed)] });
  const given: Uint8Array[] = [];
  const read = async (_: unknown, { files }: ToolContext): Promise<number> => given.push(await files.read("a"));
  const capabilities = [{ kind: "fs.read", paths: ["**"] }];
  bench.kernel.registerTrusted(toolOf(read, { capabilities, effects: ["fs.read"], determinism: "external" }));
  const uses = async (): Promise<readonly unknown[]> =>
    (await bench.events()).filter(({ type }) => type === "capability.used").map(({ payload }) => payload);
  return { ...bench, given, uses };
}

describe("an answer that is large", () => {
  it("leaves the thread to others, piece by piece", async () => {
    let turns: ReturnType<typeof countTurns> | undefined;
    const { kernel } = await reader(large(), () => (turns = countTurns()));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    expect(turns?.stop()).toBeGreaterThanOrEqual(PIECES - 1);
  });

  it("is for the tool what it is in the log, whatever its owner makes of it meanwhile", async () => {
    const body = large();
    let turns: ReturnType<typeof countTurns> | undefined;
    const { kernel, given, uses } = await reader(body, () => (turns = countTurns((turn) => body.fill(turn + 1))));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    turns?.stop();
    const responseHash = hashJson({ ok: true, value: null, body: hashBytes(given[0]!) });
    expect(await uses()).toMatchObject([{ outcome: "ok", responseHash }]);
    expect(given[0]!.at(-1)).not.toBe(given[0]![0]);
  });

  it("can lose its memory meanwhile", async () => {
    const body = large();
    let turns: ReturnType<typeof countTurns> | undefined;
    const { kernel, given, uses } = await reader(body, () => {
      turns = countTurns((turn) => {
        if (turn === 2) structuredClone(body, { transfer: [body.buffer] });
      });
    });
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    turns?.stop();
    expect(body.length).toBe(0);
    const responseHash = hashJson({ ok: true, value: null, body: hashBytes(given[0]!) });
    expect(await uses()).toMatchObject([{ outcome: "ok", responseHash }]);
  });

  it("is not handed over when its grant is revoked meanwhile", async () => {
    let turns: ReturnType<typeof countTurns> | undefined;
    const { kernel, given, uses } = await reader(large(), () => {
      turns = countTurns((turn) => {
        if (turn === 2) void kernel.grants.revoke({ tool: "subject" }, "Enough.");
      });
    });
    expect(await kernel.call("subject", {})).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED", message: expect.stringContaining("was revoked: Enough.") },
    });
    turns?.stop();
    expect(given).toEqual([]);
    expect(await uses()).toMatchObject([{ outcome: "refused" }]);
    await expectSoundLog(kernel);
  });

  it("is not taken to its end when its call has ended meanwhile", async () => {
    const { kernel, given, uses } = await reader(large(), () => {});
    const leave = (_: unknown, { files }: ToolContext): null => {
      void files.read("a").catch(() => {});
      return null;
    };
    const capabilities = [{ kind: "fs.read", paths: ["**"] }];
    kernel.registerTrusted(
      toolOf(leave, { name: "leaving", capabilities, effects: ["fs.read"], determinism: "external" }),
    );
    expect(await kernel.call("leaving", {})).toMatchObject({ ok: true, effects: ["fs.read"] });
    await expect.poll(uses).toMatchObject([{ outcome: "refused" }]);
    expect(given).toEqual([]);
  });

  it("is handed over as a copy: its owner keeps its own", async () => {
    const body = new TextEncoder().encode("x".repeat(900));
    const host = nodeHost({ trusted: [subject.hash] });
    const { kernel } = await openKernel({ policy, host, brokers: [brokerOf(body, () => {})] });
    kernel.register(subject);
    for (let i = 0; i < 2; i++)
      expect(await kernel.call("subject", { deed: "read", value: "a" })).toMatchObject({ data: "x".repeat(900) });
    await kernel.close();
    await host.close();
  });
});
