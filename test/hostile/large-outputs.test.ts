import { hashBytes } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { type Bench, expectSoundLog, openKernel, toolOf } from "../support/kernel.ts";
import { sized } from "../support/size.ts";
import { countTurns } from "../support/turns.ts";

const PIECES = sized(4, 8);
const LENGTH = PIECES * 524_288;

/** @param given told of the bytes just before the tool returns them */
async function giver(given: (bytes: Uint8Array) => void): Promise<Bench> {
  const bench = await openKernel();
  const give = (): Uint8Array => {
    const bytes = new Uint8Array(LENGTH).fill(1);
    given(bytes);
    return bytes;
  };
  const more = { output: { kind: "binary" }, bounds: { outputBytes: LENGTH } };
  bench.kernel.registerTrusted(toolOf(give, more));
  return bench;
}

describe("an output of many bytes", () => {
  it("leaves the thread to others, piece by piece, and has the same digest", async () => {
    let others: ReturnType<typeof countTurns> | undefined;
    const { kernel } = await giver(() => (others = countTurns()));
    const expected = hashBytes(new Uint8Array(LENGTH).fill(1));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true, hash: expected });
    expect(others?.stop()).toBeGreaterThanOrEqual(PIECES - 1);
    await expectSoundLog(kernel);
  });

  it("is what it was when the tool returned it, whatever that writes meanwhile", async () => {
    let others: ReturnType<typeof countTurns> | undefined;
    const { kernel } = await giver((bytes) => (others = countTurns((turn) => bytes.fill(turn + 1))));
    const result = await kernel.call("subject", {});
    others?.stop();
    const expected = new Uint8Array(LENGTH).fill(1);
    expect(result).toMatchObject({ ok: true, hash: hashBytes(expected) });
    expect(result.ok && hashBytes(result.data as Uint8Array)).toBe(hashBytes(expected));
  });

  it("is nobody's when the deadline passes meanwhile", async () => {
    let others: ReturnType<typeof countTurns> | undefined;
    const { kernel, clock } = await giver(
      () => (others = countTurns((turn) => void (turn === 2 && clock.advance(60_000)))),
    );
    const result = await kernel.call("subject", {}, { bounds: { timeoutMs: 1_000 } });
    others?.stop();
    expect(result).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    await expectSoundLog(kernel);
  });

  it("is nobody's when the caller cancels meanwhile", async () => {
    const cancel = new AbortController();
    let others: ReturnType<typeof countTurns> | undefined;
    const { kernel } = await giver(() => (others = countTurns((turn) => void (turn === 2 && cancel.abort()))));
    const result = await kernel.call("subject", {}, { signal: cancel.signal });
    others?.stop();
    expect(result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    await expectSoundLog(kernel);
  });

  it("is there for the caller who cancels when all of it is hashed", async () => {
    const cancel = new AbortController();
    const { kernel } = await giver(() => {});
    kernel.audit.subscribe(({ type }) => void (type === "tool.completed" && cancel.abort()));
    expect(await kernel.call("subject", {}, { signal: cancel.signal })).toMatchObject({ ok: true });
  });
});
