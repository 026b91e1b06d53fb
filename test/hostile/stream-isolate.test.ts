import { createKernel, type Kernel, limits, type CallPort, type IsolateOutcome } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, openPolicy, toolOf } from "../support/kernel.ts";
import { hostOpening, packed } from "../support/module-host.ts";
import { joined, sink, streamOf } from "../support/streams.ts";
import { settled } from "../support/turns.ts";

/** A host whose isolate does what it likes with its port, and what became of it. */
async function withIsolate(
  deed: (port: CallPort, ended: Promise<string>) => Promise<IsolateOutcome>,
): Promise<{ readonly kernel: Kernel; readonly terminated: readonly string[] }> {
  const terminated: string[] = [];
  const host = hostOpening("lying", async () => {
    const end = Promise.withResolvers<string>();
    return {
      get alive() {
        return terminated.length === 0;
      },
      call: (_, port) =>
        Promise.race([
          deed(port, end.promise),
          end.promise.then((reason): IsolateOutcome => ({ kind: "lost", reason })),
        ]),
      terminate(reason) {
        terminated.push(reason);
        end.resolve(reason);
      },
    };
  });
  const kernel = await createKernel({ host, policy: openPolicy });
  const bounds = { outputBytes: 10_000 };
  expect(kernel.register(packed(streamOf(() => [], { bounds })))).toMatchObject({ ok: true });
  expect(kernel.register(packed(toolOf(() => 1, { name: "plain", bounds })))).toMatchObject({ ok: true });
  return { kernel, terminated };
}

const piece = (length = 1_000): Uint8Array => new Uint8Array(length).fill(7);
const whole: IsolateOutcome = { kind: "returned", output: { form: "stream" } };

describe("an isolate that takes no notice of what its port says", () => {
  it("is stopped at the bound, and its caller has no byte beyond it", async () => {
    const { kernel, terminated } = await withIsolate(async (port) => {
      for (let i = 0; i < 1_000; i++) await port.write!(piece());
      return whole;
    });
    const { output, pieces, ends } = sink();
    expect(await kernel.call("subject", {}, { output })).toMatchObject({
      ok: false,
      error: { code: "BOUNDS_EXCEEDED", details: { bound: "outputBytes", limit: 10_000 } },
    });
    await settle();
    expect(joined(pieces).length).toBe(10_000);
    expect(terminated[0]).toBe("it sent too much");
    expect(ends).toHaveLength(1);
    await expectSoundLog(kernel);
  });

  it("writes into nothing after the end of its call", async () => {
    let kept: CallPort | undefined;
    const { kernel } = await withIsolate(async (port) => {
      kept = port;
      await port.write!(piece(5));
      return whole;
    });
    const { output, pieces, ends } = sink();
    const result = await kernel.call("subject", {}, { output });
    expect(result).toMatchObject({ ok: true, data: { byteLength: 5 } });
    expect(await kept!.write!(piece())).toBe(false);
    expect([joined(pieces).length, ends]).toEqual([5, ["closed"]]);
    await expectSoundLog(kernel);
  });

  it("writes on after its caller went away, and is ended after the grace", async () => {
    const { kernel, terminated } = await withIsolate(async (port, ended) => {
      let isOver = false;
      void ended.then(() => (isOver = true));
      while (!isOver) {
        await port.write!(piece(1));
        await settled();
      }
      return whole;
    });
    const { output } = sink(() => {
      throw new Error("gone");
    });
    expect(await kernel.call("subject", {}, { output })).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(terminated[0]).toBe("cancelled");
  });

  it.each<[string, string, IsolateOutcome]>([
    ["JSON for a stream", "subject", { kind: "returned", output: { form: "json", text: "1" } }],
    ["bytes for a stream", "subject", { kind: "returned", output: { form: "binary", bytes: piece(1) } }],
    ["a stream for JSON", "plain", whole],
  ])("breaks its contract with %s", async (_, tool, outcome) => {
    const { kernel } = await withIsolate(async (port) => {
      await port.write?.(piece(1));
      return outcome;
    });
    expect(await kernel.call(tool, {})).toMatchObject({ ok: false, error: { code: "INVALID_OUTPUT" } });
    await expectSoundLog(kernel);
  });

  it("writes pieces that are larger than a shell's, and they count like all others", async () => {
    const { kernel } = await withIsolate(async (port) => {
      await port.write!(piece(limits.pieceBytes * 2));
      return whole;
    });
    expect(await kernel.call("subject", {})).toMatchObject({ ok: false, error: { code: "BOUNDS_EXCEEDED" } });
  });
});
