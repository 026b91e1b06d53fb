import {
  type CallOptions,
  checkPackage,
  checkTrustedTool,
  createKernel,
  hashBytes,
  limits,
  manifestOf,
} from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, granting, openKernel, openPolicy, toolOf } from "../support/kernel.ts";
import { calling, leaf, openCalling } from "../support/nested.ts";
import { unhandledDuring } from "../support/rejections.ts";
import { joined, sink, streamOf } from "../support/streams.ts";

const text = (...words: string[]) => words.map((word) => new TextEncoder().encode(word));
const helloHash = hashBytes(new TextEncoder().encode("hello"));

describe("an output that is a stream", () => {
  it("goes to the caller's stream, and a reference into the result", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(
      streamOf(() => text("he", "", "llo"), { output: { kind: "stream", mediaType: "text/plain" } }),
    );
    const { output, pieces, ends } = sink();
    expect(await kernel.call("subject", {}, { output })).toMatchObject({
      ok: true,
      data: { digest: helloHash, byteLength: 5, mediaType: "text/plain" },
      hash: helloHash,
      meta: { warnings: [] },
    });
    expect(new TextDecoder().decode(joined(pieces))).toBe("hello");
    await settle();
    expect(ends).toEqual(["closed"]);
    await expectSoundLog(kernel);
  });

  it("may be as large as its bound, and not a byte larger", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(streamOf(() => text("he", "llo"), { bounds: { outputBytes: 5 } }));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true, data: { byteLength: 5 } });
    expect(await kernel.call("subject", {}, { bounds: { outputBytes: 4 } })).toMatchObject({
      ok: false,
      error: { code: "BOUNDS_EXCEEDED", details: { bound: "outputBytes", limit: 4 } },
    });
  });

  it("may be declared larger than what crosses as a whole; nothing else may", async () => {
    const { kernel } = await openKernel();
    const bounds = { outputBytes: limits.wholeOutputBytes + 1 };
    expect(kernel.registerTrusted(streamOf(() => [], { bounds }))).toMatchObject({ ok: true });
    for (const kind of ["json", "text", "binary"]) {
      expect(kernel.registerTrusted(toolOf(() => "", { name: kind, output: { kind }, bounds }))).toMatchObject({
        ok: false,
        error: { code: "INVALID_MANIFEST", path: "/bounds/outputBytes" },
      });
    }
    expect(
      kernel.registerTrusted(streamOf(() => [], { name: "described", output: { kind: "stream", schema: {} } })),
    ).toMatchObject({
      ok: false,
      error: { code: "INVALID_MANIFEST", path: "/output/schema" },
    });
  });

  it("is what JavaScript gives; WebAssembly writes one whole", () => {
    const manifest = {
      ...manifestOf(
        streamOf(() => []),
        "inline",
      ),
      source: "wasm",
    };
    expect(checkPackage({ manifest, code: new Uint8Array(8), hash: "" })).toMatchObject({
      ok: false,
      error: { code: "INVALID_MANIFEST", path: "/output/kind" },
    });
  });

  it("is hashed as it is: no normal form of one's own applies", () => {
    const tool = streamOf(() => [], { normalization: { custom: "rounded" } });
    expect(checkTrustedTool(tool)).toMatchObject({
      ok: false,
      error: { code: "INVALID_MANIFEST", path: "/normalization" },
    });
  });

  it("is in no content store, whose digests would say other bytes", async () => {
    const stored: string[] = [];
    const content = {
      put: async (digest: string) => void stored.push(digest),
      get: async () => undefined,
      delete: async () => {},
    };
    const { kernel } = await openKernel({ content });
    const length = limits.inlineOutputBytes + 1;
    kernel.registerTrusted(streamOf(() => [new Uint8Array(length)], { bounds: { outputBytes: length } }));
    const result = await kernel.call("subject", {}, { references: true });
    expect(result).toMatchObject({ ok: true, data: { byteLength: length } });
    expect([stored, result.ok && result.reference]).toEqual([[], undefined]);
  });

  it("is not kept for equal calls of a pure tool", async () => {
    let runs = 0;
    const { kernel } = await openKernel();
    kernel.registerTrusted(streamOf(() => text(`run ${runs++}`)));
    for (const run of ["run 0", "run 1"]) {
      const { output, pieces } = sink();
      expect(await kernel.call("subject", {}, { output })).toMatchObject({ ok: true, meta: { cached: false } });
      expect(new TextDecoder().decode(joined(pieces))).toBe(run);
    }
  });

  it("is told of again under an idempotency key; the bytes went to the first call", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(streamOf(() => text("hello")));
    const [first, second] = [sink(), sink()];
    const options = { idempotencyKey: "key" };
    await kernel.call("subject", {}, { ...options, output: first.output });
    expect(await kernel.call("subject", {}, { ...options, output: second.output })).toMatchObject({
      ok: true,
      data: { digest: helloHash, byteLength: 5 },
      hash: helloHash,
      meta: { cached: true },
    });
    await settle();
    expect([first.ends, second.ends]).toEqual([["closed"], ["Error: The call that ran received the bytes."]]);
  });

  it("is a reference for a tool that calls the tool", async () => {
    const { kernel } = await openCalling([
      calling("outer", (_, { tools }) => tools.call("inner")),
      leaf("inner", () => text("hello"), { output: { kind: "stream" } }),
    ]);
    expect(await kernel.call("outer", {})).toMatchObject({
      ok: true,
      data: { ok: true, data: { digest: helloHash, byteLength: 5 } },
    });
  });
});

describe("a run that fails for a reason that passes", () => {
  it("runs again as long as the caller has nothing of its stream, and not after", async () => {
    const reads = (before: string[]) =>
      streamOf(
        async function* (_: never, { files }: { files: { read(path: string): Promise<Uint8Array> } }) {
          yield* text(...before);
          yield await files.read("a");
        },
        {
          effects: ["fs.read"],
          determinism: "external",
          capabilities: [{ kind: "fs.read", paths: ["**"] }],
          idempotent: true,
        },
      );
    const run = async (before: string[]) => {
      let served = 0;
      const away = { ok: false, error: { code: "UNAVAILABLE", message: "Away.", hint: "" } } as const;
      const broker = {
        families: [fsRead],
        needs: () => ({ ok: true, needs: [{ kind: "fs.read", path: "a" }] }) as const,
        serve: async () => (served++ === 0 ? away : ({ ok: true, value: null, body: text("late")[0]! } as const)),
      };
      const policy = granting({ kind: "fs.read", paths: ["**"] });
      const { kernel, clock } = await openKernel({ policy, brokers: [broker] });
      kernel.registerTrusted(reads(before));
      const taken = sink();
      const call = kernel.call("subject", {}, { output: taken.output });
      await clock.advance(limits.retryMs * 2);
      return { result: await call, said: new TextDecoder().decode(joined(taken.pieces)) };
    };
    expect(await run([])).toMatchObject({ result: { ok: true, meta: { attempts: 2 } }, said: "late" });
    expect(await run(["early"])).toMatchObject({ result: { ok: false, meta: { attempts: 1 } }, said: "early" });
  });
});

describe("a caller's stream", () => {
  it.each<[string, CallOptions, string, string]>([
    ["of a tool that gives JSON", {}, "INVALID_INPUT", "plain"],
    ["of a call that is blocked", {}, "TOOL_NOT_FOUND", "nobody"],
    ["of a call whose options are wrong", { bounds: { timeoutMs: -1 } }, "INVALID_INPUT", "subject"],
    ["of a call that was cancelled before", { signal: AbortSignal.abort() }, "CANCELLED", "subject"],
  ])("is aborted, so that nobody waits at its other end: %s", async (_, options, code, tool) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(streamOf(() => text("hello")));
    kernel.registerTrusted(toolOf(() => 1, { name: "plain" }));
    const { output, ends, pieces } = sink();
    const rejections = await unhandledDuring(async () => {
      expect(await kernel.call(tool, {}, { ...options, output })).toMatchObject({ ok: false, error: { code } });
      await settle();
    });
    expect([ends, pieces]).toEqual([[expect.stringContaining("Error: ")], []]);
    expect(rejections, "one would end the caller's process").toEqual([]);
    await expectSoundLog(kernel);
  });

  it.each<[string, unknown]>([
    ["a number", 1],
    ["null", null],
    ["nothing in it", {}],
    ["a writer that is none", { getWriter: () => ({}) }],
    ["a writer without an end", { getWriter: () => ({ write() {}, close() {}, abort() {}, closed: 1 }) }],
    [
      "a getter that throws",
      {
        get getWriter(): never {
          throw new Error("no");
        },
      },
    ],
    ["locked", lockedStream()],
  ])("that is none, or somebody else's, is refused: %s", async (_, output) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(streamOf(() => text("hello")));
    const options = { output } as unknown as CallOptions;
    expect(await kernel.call("subject", {}, options)).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    await expectSoundLog(kernel);
  });

  it("that fails to close changes nothing of the result", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(streamOf(() => text("hello")));
    const output = new WritableStream<Uint8Array>({
      close() {
        throw new Error("no");
      },
    });
    expect(await kernel.call("subject", {}, { output })).toMatchObject({ ok: true, hash: helloHash });
  });

  it("makes the tool wait: one piece at a time in the kernel's own realm", async () => {
    let made = 0;
    const kernel = await createKernel({ policy: openPolicy });
    kernel.registerTrusted(
      streamOf(
        function* () {
          for (; made < 10; made++) yield new Uint8Array(1_000_000);
        },
        { bounds: { outputBytes: 10_000_000 } },
      ),
    );
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const result = kernel.call("subject", {}, { output: writable });
    const reader = readable.getReader();
    for (let read = 0; read < 8; read++) {
      expect((await reader.read()).done).toBe(false);
      await settle();
      // A piece of a megabyte leaves in four parts; two of them fit into the stream itself.
      expect(made).toBeLessThanOrEqual(Math.ceil((read + 4) / 4));
    }
    await reader.cancel();
    expect(await result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  });
});

function lockedStream(): WritableStream<Uint8Array> {
  const { output } = sink();
  output.getWriter();
  return output;
}
