import { type CallOptions, type CallResult, hashBytes, type IsolateHost, type Kernel } from "@keyhole/kernel";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FakeClock, passUntil } from "../support/fake-clock.ts";
import { expectSoundLog, openPolicy } from "../support/kernel.ts";
import { runsWhole } from "../support/part.ts";
import { joined, sink } from "../support/streams.ts";
import { poured } from "./isolate-stream.ts";
import { type HostTraits, kernelOn, pourFor } from "./isolate-subject.ts";

/** What a caller sees of an output that is a stream, whatever host runs the tool. */
export function streamKernelContract(makeHost: () => Promise<IsolateHost>, { preempts, part }: HostTraits): void {
  const clock = new FakeClock();
  const bounds = { timeoutMs: 1_000 };
  let kernel: Kernel;
  beforeAll(async () => {
    const host = await makeHost();
    kernel = await kernelOn(host, pourFor(host), { policy: openPolicy, clock });
  });
  afterAll(() => kernel.close());

  const call = (deed: string, pieces: number, length: number, options: CallOptions = {}): Promise<CallResult> =>
    kernel.call("pour", { deed, pieces, length }, { sessionId: "session", ...options });

  /** Whatever a call did: the next one works, and the log has exactly one end for each. */
  const expectUsable = async (): Promise<void> => {
    const next = sink();
    expect(await call("pour", 2, 10, { output: next.output })).toMatchObject({ ok: true });
    expect(joined(next.pieces)).toEqual(poured(2, 10));
    await expectSoundLog(kernel);
  };

  const account = async (): Promise<unknown> => {
    const said = sink();
    await call("account", 0, 0, { output: said.output });
    return JSON.parse(new TextDecoder().decode(joined(said.pieces)));
  };

  it("hands the caller the bytes, and a reference to them", async () => {
    const { output, pieces, ends } = sink();
    const result = await call("pour", 40, 50_000, { output });
    // Written down, so that it is the same on every host.
    const digest = "blake3:33950e86d4c598c360e5db33fc610227abff1722b92857f8493c262db882f27c";
    expect(result).toMatchObject({ ok: true, hash: digest, meta: { warnings: [] } });
    expect(result.ok && result.data).toEqual({
      digest,
      byteLength: 2_000_000,
      mediaType: "application/octet-stream",
    });
    expect(hashBytes(joined(pieces))).toBe(digest);
    await expect.poll(() => ends).toEqual(["closed"]);
    const events = (await kernel.audit.read()).filter(({ callId }) => callId === result.callId);
    expect(events.at(-1)).toMatchObject({
      type: "tool.completed",
      payload: { outputHash: digest, outputBytes: 2_000_000 },
    });
    await expectUsable();
  });

  it("makes a tool wait for a caller that does not read, up to the deadline", async () => {
    const first = Promise.withResolvers<void>();
    const { output, pieces, ends } = sink(() => {
      first.resolve();
      return new Promise(() => {});
    });
    const result = call("pour without end", 0, 10_000, { output, bounds });
    expect(await passUntil(clock, first.promise, result)).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    expect(pieces).toHaveLength(1);
    expect(ends).toEqual([]); // The sink still has its one piece; what was to be written after is gone.
    await expectUsable();
  });

  it("cancels a stream in the middle", async () => {
    const controller = new AbortController();
    const { output, ends } = sink(() => controller.abort());
    const result = await call("pour without end", 0, 1_000, { output, signal: controller.signal });
    expect(result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    await expect.poll(() => ends).toEqual([expect.stringContaining("cancelled")]);
    await expectUsable();
  });

  if (preempts) {
    it("stops at the deadline a tool that loops in its stream", async () => {
      const { output, pieces, ends } = sink();
      const result = call("pour and loop", 2, 10, { output, bounds });
      const flows = async (): Promise<void> => {
        await expect.poll(() => pieces).toHaveLength(2);
      };
      expect(await passUntil(clock, flows(), result)).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
      await expect.poll(() => ends).toHaveLength(1);
      await expectUsable();
    });
  }

  // From here on nothing depends on the engine.
  if (!runsWhole(part)) return;

  it("hashes what nobody takes, and says so", async () => {
    const result = await call("pour", 3, 10);
    expect(result).toMatchObject({
      ok: true,
      hash: hashBytes(poured(3, 10)),
      meta: { warnings: [expect.any(String)] },
    });
    await expectUsable();
  });

  it("lets a slow caller have all of it", async () => {
    const { output, pieces } = sink(() => new Promise((resolve) => setTimeout(resolve, 1)));
    expect(await call("pour", 30, 1_000, { output })).toMatchObject({ ok: true });
    expect(joined(pieces)).toEqual(poured(30, 1_000));
  });

  it("ends as cancelled when the caller's stream fails, and keeps the isolate", async () => {
    await call("pour", 1, 1, {});
    const { output } = sink(() => {
      throw new Error("the disk is full");
    });
    const result = await call("pour without end", 0, 1_000, { output });
    expect(result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(await account()).toMatchObject({ stopped: true });
    await expectUsable();
  });

  it("ends as cancelled when the reader goes away, also where the tool gives nothing", async () => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const reader = readable.getReader();
    const result = call("pour and hang", 1, 10, { output: writable });
    expect((await reader.read()).value).toEqual(poured(1, 10));
    // After the grace: the tool waits for nothing that ever comes.
    expect(await passUntil(clock, reader.cancel("seen enough"), result)).toMatchObject({
      ok: false,
      error: { code: "CANCELLED" },
    });
    await expectUsable();
  });

  it.each([
    ["TOOL_ERROR", "throw midway"],
    ["NOT_NORMALIZABLE", "a text in between"],
    ["BOUNDS_EXCEEDED", "pour without end"],
  ])("does not let what ended with %s be taken for whole: %s", async (code, deed) => {
    const { output, ends } = sink();
    const result = await call(deed, 2, 1_000, { output, bounds: { outputBytes: 5_000 } });
    expect(result).toMatchObject({ ok: false, error: { code } });
    await expect.poll(() => ends).toEqual([expect.stringContaining("Error")]);
    await expectUsable();
  });
}
