import { type Broker, type CapabilityRequest, hashBytes, hashJson, type ToolContext } from "@keyhole/kernel";
import { fsWrite } from "@keyhole/kernel/families";
import { describe, expect, it } from "vitest";
import { type Bench, expectSoundLog, granting, openKernel, toolOf } from "../support/kernel.ts";
import { sized } from "../support/size.ts";
import { countTurns } from "../support/turns.ts";

const capabilities = [
  { kind: "fs.write", paths: ["**"] },
  { kind: "tool.call", tools: ["*"] },
] as const;
const policy = granting(...capabilities);

const PIECES = sized(4, 8);
const LENGTH = PIECES * 524_288;

interface Writer extends Bench {
  /** What the broker was asked, in its order. */
  readonly asked: CapabilityRequest[];
  readonly requestHashes: () => Promise<readonly unknown[]>;
}

async function writer(execute: (files: ToolContext["files"], tools: ToolContext["tools"]) => unknown): Promise<Writer> {
  const asked: CapabilityRequest[] = [];
  const broker: Broker = {
    families: [fsWrite],
    needs: () => ({ ok: true, needs: [{ kind: "fs.write", path: "a" }] }),
    async serve(request) {
      asked.push(request);
      return { ok: true, value: null };
    },
  };
  const bench = await openKernel({ policy, brokers: [broker] });
  const write = async (_: unknown, { files, tools }: ToolContext): Promise<null> => {
    await execute(files, tools);
    return null;
  };
  bench.kernel.registerTrusted(toolOf(write, { capabilities, effects: ["fs.write"], determinism: "external" }));
  const requestHashes = async (): Promise<readonly unknown[]> =>
    (await bench.events()).flatMap(({ type, payload }) =>
      type === "capability.used" ? [(payload as { readonly requestHash: string }).requestHash] : [],
    );
  return { ...bench, asked, requestHashes };
}

/** What the log has to say of it. */
const hashOf = ({ body, ...rest }: CapabilityRequest): string =>
  hashJson({ ...rest, body: body ? hashBytes(body) : null });

describe("a body that is large", () => {
  it("leaves the thread to others, piece by piece, and has the same digest", async () => {
    let turns = 0;
    const { kernel, asked, requestHashes } = await writer(async (files) => {
      const others = countTurns();
      await files.write("a", new Uint8Array(LENGTH).fill(1));
      turns = others.stop();
    });
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    expect(turns).toBeGreaterThanOrEqual(PIECES - 1);
    const { kind, operation, arguments: at } = asked[0]!;
    const body = hashBytes(new Uint8Array(LENGTH).fill(1));
    expect(await requestHashes()).toEqual([hashJson({ kind, operation, arguments: at, body })]);
  });

  it.each<[string, () => ArrayBufferLike, (bytes: Uint8Array, turn: number) => void]>([
    ["written over", () => new ArrayBuffer(LENGTH), (bytes, turn) => bytes.fill(turn + 1)],
    ["written over in shared memory", () => new SharedArrayBuffer(LENGTH), (bytes, turn) => bytes.fill(turn + 1)],
    [
      "taken away",
      () => new ArrayBuffer(LENGTH),
      (bytes, turn) => turn === 2 && structuredClone(bytes, { transfer: [bytes.buffer] }),
    ],
    [
      "shrunk",
      () => new ArrayBuffer(LENGTH, { maxByteLength: LENGTH }),
      (bytes, turn) => turn === 2 && (bytes.buffer as ArrayBuffer).resize(1_000_000),
    ],
    [
      "grown",
      () => new ArrayBuffer(LENGTH, { maxByteLength: LENGTH * 2 }),
      (bytes, turn) => turn === 2 && (bytes.buffer as ArrayBuffer).resize(LENGTH * 2),
    ],
  ])("is for the broker what it is in the log, when it is %s meanwhile", async (_, memory, change) => {
    const { kernel, asked, requestHashes } = await writer(async (files) => {
      const bytes = new Uint8Array(memory()).fill(1);
      const others = countTurns((turn) => change(bytes, turn));
      await files.write("a", bytes);
      others.stop();
      if (bytes.length > 0) bytes.fill(99);
    });
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    expect(asked[0]!.body).toHaveLength(LENGTH);
    expect(await requestHashes()).toEqual(asked.map(hashOf));
    await expectSoundLog(kernel);
  });

  it("is what it was in the moment of the request when it is small", async () => {
    const { kernel, asked, requestHashes } = await writer(async (files) => {
      const bytes = new Uint8Array(524_288).fill(1);
      const writing = files.write("a", bytes);
      bytes.fill(2);
      await writing;
    });
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    expect(asked[0]!.body).toEqual(new Uint8Array(524_288).fill(1));
    expect(await requestHashes()).toEqual(asked.map(hashOf));
  });

  it("is served before what its tool asks for later", async () => {
    const lengths = [LENGTH, 1, LENGTH, 0, 524_289, 2];
    const { kernel, asked, requestHashes } = await writer((files) =>
      Promise.all([...lengths.map((length) => files.write("a", new Uint8Array(length))), files.remove("a")]),
    );
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    expect(asked.map(({ body }) => body?.length)).toEqual([...lengths, undefined]);
    expect(await requestHashes()).toEqual(asked.map(hashOf));
  });

  it("does not hold up what its tool calls later", async () => {
    const { kernel, asked } = await writer((files, tools) =>
      Promise.all([files.write("a", new Uint8Array(LENGTH)), tools.call("called", {})]),
    );
    let askedBefore: number | undefined;
    kernel.registerTrusted(toolOf(() => (askedBefore = asked.length), { name: "called" }));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    expect([askedBefore, asked.length]).toEqual([0, 1]);
  });

  it("does not reach its broker when the deadline passes meanwhile", async () => {
    const bench = await writer(async (files) => {
      const others = countTurns((turn) => void (turn === 2 && bench.clock.advance(60_000)));
      await files.write("a", new Uint8Array(LENGTH)).finally(() => others.stop());
    });
    const { kernel, asked, requestHashes } = bench;
    const result = await kernel.call("subject", {}, { bounds: { timeoutMs: 1_000 } });
    expect(result).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    expect([asked, await requestHashes()]).toEqual([[], []]);
    await expectSoundLog(kernel);
  });

  it("does not reach its broker when the call is cancelled meanwhile, and its grace is over", async () => {
    const cancel = new AbortController();
    const bench = await writer(async (files) => {
      const others = countTurns((turn) => {
        if (turn !== 2) return;
        cancel.abort();
        void bench.clock.advance(60_000);
      });
      await files.write("a", new Uint8Array(LENGTH)).finally(() => others.stop());
    });
    const { kernel, asked } = bench;
    const result = await kernel.call("subject", {}, { signal: cancel.signal });
    expect(result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(asked).toEqual([]);
    await expectSoundLog(kernel);
  });

  it("does not reach its broker when its grant is revoked meanwhile", async () => {
    const bench = await writer(async (files) => {
      const others = countTurns(
        (turn) => void (turn === 2 && bench.kernel.grants.revoke({ tool: "subject" }, "Enough.")),
      );
      await files.write("a", new Uint8Array(LENGTH)).finally(() => others.stop());
    });
    const { kernel, asked, requestHashes } = bench;
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    expect(asked).toEqual([]);
    expect(await requestHashes()).toHaveLength(1);
    await expectSoundLog(kernel);
  });

  it("of memory that is gone already is refused, and what comes after it is served", async () => {
    const { kernel, asked } = await writer(async (files) => {
      const bytes = new Uint8Array(LENGTH);
      structuredClone(bytes, { transfer: [bytes.buffer] });
      await expect(files.write("a", bytes)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
      await files.write("a", "b");
    });
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
    expect(asked).toHaveLength(1);
  });
});
