import {
  type AuditPayloads,
  type CallOptions,
  type CallResult,
  hashBytes,
  type IsolateHost,
  type Kernel,
} from "@keyhole/kernel";
import { afterAll, beforeAll, expect, it } from "vitest";
import { FakeClock, passUntil } from "../support/fake-clock.ts";
import { expectSoundLog, openPolicy } from "../support/kernel.ts";
import { runsWhole } from "../support/part.ts";
import { bodySource, joined, sink, type Source } from "../support/streams.ts";
import { poured } from "./isolate-stream.ts";
import { drinkFor, type HostTraits, kernelOn } from "./isolate-subject.ts";

/** What a caller sees of a body, whatever host runs the tool. */
export function bodyKernelContract(makeHost: () => Promise<IsolateHost>, { part }: HostTraits): void {
  const clock = new FakeClock();
  let kernel: Kernel;
  beforeAll(async () => {
    const host = await makeHost();
    kernel = await kernelOn(host, drinkFor(host), { policy: openPolicy, clock });
  });
  afterAll(() => kernel.close());

  const call = (deed: string, body: Source["body"], options: CallOptions = {}): Promise<CallResult> =>
    kernel.call("drink", { deed }, { sessionId: "session", ...options, body });

  const accountOf = async ({ callId }: CallResult): Promise<AuditPayloads["body.read"][]> =>
    (await kernel.audit.read()).flatMap((event) =>
      event.type === "body.read" && event.callId === callId ? [event.payload] : [],
    );

  /** Whatever a call did: the next one works, and the log has exactly one end for each. */
  const expectUsable = async (): Promise<void> => {
    const { output, pieces } = sink();
    const { body } = bodySource([new Uint8Array([1, 2, 3])]);
    expect(await call("echo", body, { output })).toMatchObject({ ok: true });
    expect([...joined(pieces)]).toEqual([1, 2, 3]);
    await expectSoundLog(kernel);
  };

  it("flows through the tool, and the log has its digest", async () => {
    const { output, pieces } = sink();
    const bytes = poured(40, 50_000);
    // Chunks of any size: cut where they are too large, left out where there is nothing.
    const chunks = [bytes.slice(0, 7), new Uint8Array(), bytes.slice(7, 1_900_000), bytes.slice(1_900_000)];
    const result = await call("echo", bodySource(chunks).body, { output });
    const digest = "blake3:33950e86d4c598c360e5db33fc610227abff1722b92857f8493c262db882f27c";
    expect(result).toMatchObject({ ok: true, hash: digest });
    expect(hashBytes(joined(pieces))).toBe(digest);
    expect(await accountOf(result)).toEqual([{ bodyHash: digest, bodyBytes: 2_000_000, whole: true }]);
    expect(result.proof?.obligations).toEqual(["body"]);
    await expectUsable();
  });

  it("is waited for up to the deadline where it never gives", async () => {
    const asked = Promise.withResolvers<void>();
    const source = bodySource([], () => {
      asked.resolve();
      return new Promise(() => {});
    });
    const result = call("count", source.body, { bounds: { timeoutMs: 1_000 } });
    expect(await passUntil(clock, asked.promise, result)).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    await expect.poll(() => source.ends).toEqual(["The call has ended."]);
    await expectUsable();
  });

  it("ends with a call that is cancelled", async () => {
    const controller = new AbortController();
    const asked = Promise.withResolvers<void>();
    const source = bodySource([new Uint8Array(1)], () => {
      controller.abort();
      asked.resolve();
      return new Promise(() => {});
    });
    const result = call("count", source.body, { signal: controller.signal });
    expect(await passUntil(clock, asked.promise, result)).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    await expect.poll(() => source.ends).toEqual(["The call has ended."]);
    await expectUsable();
  });

  // From here on nothing depends on the engine.
  if (!runsWhole(part)) return;

  it("is cancelled where the tool does not read on, and the log says how far it was read", async () => {
    const source = bodySource(Array.from({ length: 9 }, () => new Uint8Array([1, 2])));
    const result = await call("taste", source.body);
    expect(await accountOf(result)).toEqual([
      { bodyHash: hashBytes(new Uint8Array([1, 2])), bodyBytes: 2, whole: false },
    ]);
    await expect.poll(() => source.ends).toEqual(["The call has ended."]);
    const untouched = bodySource([new Uint8Array(1)]);
    expect(await accountOf(await call("leave", untouched.body))).toMatchObject([{ bodyBytes: 0, whole: false }]);
    expect(untouched.given()).toBe(0);
    await expectUsable();
  });

  it("may be as large as its bound, and not a byte larger", async () => {
    const bounds = { bodyBytes: 1_000 };
    const within = await call("count", bodySource([new Uint8Array(999), new Uint8Array(1)]).body, { bounds });
    expect(within).toMatchObject({ ok: true });
    const source = bodySource([new Uint8Array(999), new Uint8Array(2), new Uint8Array(1)]);
    const result = await call("catch what happens", source.body, { bounds });
    expect(result).toMatchObject({
      ok: false,
      error: { code: "BOUNDS_EXCEEDED", details: { bound: "bodyBytes", limit: 1_000 } },
    });
    expect(await accountOf(result)).toEqual([
      { bodyHash: hashBytes(new Uint8Array(999)), bodyBytes: 999, whole: false },
    ]);
    await expect.poll(() => source.ends).toEqual(["The call has ended."]);
    await expectUsable();
  });

  it("fails its call when it breaks off, whatever the tool makes of it", async () => {
    const { body } = bodySource([new Uint8Array(5)], () => {
      throw new Error("the disk is gone");
    });
    const result = await call("catch what happens", body);
    expect(result).toMatchObject({
      ok: false,
      error: { code: "CANCELLED", message: expect.stringContaining("the disk is gone") },
    });
    expect(await accountOf(result)).toMatchObject([{ bodyBytes: 5, whole: false }]);
    await expectUsable();
  });

  it.each<[string, unknown]>([
    ["a text", "text"],
    ["nothing", undefined],
    ["null", null],
    ["numbers", [1, 2, 3]],
    ["a buffer", new ArrayBuffer(8)],
    ["numbers of 64 bits", new Float64Array(1)],
    ["a then-able", { then: (resolve: (value: unknown) => void) => resolve(new Uint8Array(1)) }],
    ["what looks like bytes", { length: 1, byteLength: 1, byteOffset: 0, buffer: new ArrayBuffer(1), 0: 1 }],
    ["a Proxy of bytes", new Proxy(new Uint8Array(1), {})],
    ["a live stream", new ReadableStream()],
  ])("is refused where a chunk is no bytes: %s", async (_, chunk) => {
    const { body } = bodySource([new Uint8Array(1), chunk as Uint8Array]);
    expect(await call("catch what happens", body)).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    await expectUsable();
  });
}
