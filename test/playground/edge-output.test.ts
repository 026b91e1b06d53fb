import { hashBytes } from "@keyhole/kernel";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readTools } from "../../packages/worker-host/src/edge/wire.ts";
import { EdgeFault } from "../../packages/worker-host/src/edge/fault.ts";
import { collect } from "../../packages/playground/src/run/collect.ts";
import { callIt, edgeThatSends, eventText, failure, output, success, summaryOf, whole } from "./edge-parts.ts";

afterEach(() => vi.unstubAllGlobals());

const pieces = [new Uint8Array(1_000).fill(1), new Uint8Array(2_000).fill(2), new Uint8Array(3)];
const bytes = new Uint8Array(pieces.flatMap((piece) => [...piece]));

describe("what a tool at an edge streams", () => {
  it("becomes a file, byte by byte", async () => {
    const { asked } = edgeThatSends([...pieces.map(output), whole(bytes)]);
    const collector = collect();
    expect(await callIt({ output: collector.output })).toMatchObject({ ok: true });
    expect(new Uint8Array(await collector.file().arrayBuffer())).toEqual(bytes);
    expect(collector.byteLength()).toBe(3_003);
    expect(asked).toEqual([{ input: {}, version: "1.0.0", sessionId: "s", output: true }]);
  });

  it("may be nothing, and may be all that the tool may give", async () => {
    for (const length of [0, 100_000]) {
      const given = new Uint8Array(length);
      edgeThatSends([...(length === 0 ? [] : [output(given)]), whole(given)]);
      const collector = collect();
      await callIt({ output: collector.output });
      expect(collector.file().size).toBe(length);
    }
  });

  it("is checked in the algorithm of its kernel", async () => {
    const tool = summaryOf("stream", "sha256:0");
    edgeThatSends([...pieces.map(output), whole(bytes, sha256Hash.bytes(bytes))], tool);
    expect(await callIt({ output: collect().output })).toMatchObject({ ok: true });
  });

  it("is not asked for where nobody takes it, or where the browser could not read it", async () => {
    for (const more of [{}, { output: collect().output, body: new Blob([new Uint8Array((8 << 20) + 1)]) }]) {
      const { asked } = edgeThatSends([whole(bytes)]);
      expect(await callIt(more)).toMatchObject({ ok: true });
      expect(asked).toEqual([{ input: {}, version: "1.0.0", sessionId: "s" }]);
    }
    const { asked } = edgeThatSends([...pieces.map(output), whole(bytes)]);
    await callIt({ output: collect().output, body: new Blob([new Uint8Array(8 << 20)]) });
    expect(asked).toMatchObject([{ output: true }]);
  });

  it("is no faster than the page takes it", async () => {
    const { state } = edgeThatSends([...pieces.map(output), whole(bytes)]);
    const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>();
    const first = Promise.withResolvers<void>();
    const slow = new WritableStream<Uint8Array>({
      write: () => {
        first.resolve();
        return room;
      },
    });
    const calling = callIt({ output: slow });
    await first.promise;
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setTimeout(resolve, 0));
    // One in the hands of the page, and what the streams between look ahead.
    expect(state.sent).toBeLessThan(4);
    makeRoom();
    expect(await calling).toMatchObject({ ok: true });
  });

  it("of a call that failed is not checked: it is what had come until then", async () => {
    edgeThatSends([output(pieces[0]!), failure]);
    expect(await callIt({ output: collect().output })).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
  });
});

describe("an edge that lies about a stream", () => {
  const [piece] = pieces as [Uint8Array];
  const digest = hashBytes(bytes);

  it("is found out when it sends without end, and left", async () => {
    const endless = function* (): Generator<string> {
      for (;;) yield output(new Uint8Array(1_000));
    };
    const { state } = edgeThatSends(endless());
    const collector = collect();
    await expect(callIt({ output: collector.output })).rejects.toThrow(EdgeFault);
    expect(collector.byteLength()).toBe(100_000);
    expect(state.left).toBe(true);
  });

  it.each<[string, readonly string[]]>([
    ["one byte more than the tool may give", [output(new Uint8Array(100_001)), whole(new Uint8Array(100_001))]],
    ["other bytes than it names", [output(new Uint8Array(3_003)), whole(bytes)]],
    ["less than it names", [output(piece), success({ digest: hashBytes(piece), byteLength: 3_003 }, hashBytes(piece))]],
    ["more than it names", [...pieces.map(output), output(new Uint8Array(1)), whole(bytes)]],
    ["nothing of what it names", [whole(bytes)]],
    ["pieces in another order", [...pieces.toReversed().map(output), whole(bytes)]],
    ["a digest and another hash", [...pieces.map(output), success({ digest, byteLength: 3_003 }, "blake3:0")]],
    ["a hash and another digest", [...pieces.map(output), success({ digest: "blake3:0", byteLength: 3_003 }, digest)]],
    ["a digest in capitals", [...pieces.map(output), whole(bytes, digest.toUpperCase())]],
    ["no digest", [...pieces.map(output), success({ byteLength: 3_003 }, digest)]],
    ["a length that is a text", [...pieces.map(output), success({ digest, byteLength: "3003" }, digest)]],
    ["a result that is the bytes", [...pieces.map(output), success("AQ==", digest, { encoding: "base64" })]],
    ["nothing for a reference", [...pieces.map(output), success(null, digest)]],
    ["text for bytes", [eventText("output", { base64: "these are no bytes!" }), whole(bytes)]],
    ["characters beyond ASCII", [eventText("output", { base64: "ÿÿÿÿ" }), whole(bytes)]],
    ["a number for bytes", [eventText("output", { base64: 7 }), whole(bytes)]],
    ["bytes as a list", [eventText("output", [1, 2, 3]), whole(bytes)]],
    ["null for bytes", [eventText("output", null), whole(bytes)]],
    ["an end without a result", pieces.map(output)],
  ])("is found out when it sends %s", async (_, texts) => {
    edgeThatSends(texts);
    await expect(callIt({ output: collect().output })).rejects.toThrow(EdgeFault);
  });

  it("reaches nothing with bytes for which nobody asked", async () => {
    edgeThatSends([output(piece), whole(bytes)]);
    expect(await callIt()).toMatchObject({ ok: true, data: { byteLength: 3_003 } });
  });

  it.each([
    ["other bytes than their hash", "AQI=", hashBytes(new Uint8Array([1, 3]))],
    ["a text for bytes", "no bytes", hashBytes(new Uint8Array([1, 2]))],
  ])("is found out in a result with %s", async (_, data, hash) => {
    edgeThatSends([success(data, hash, { encoding: "base64" })], summaryOf("binary"));
    await expect(callIt()).rejects.toThrow(EdgeFault);
  });

  it("has its bytes in a result taken where they are what it says", async () => {
    const hash = hashBytes(new Uint8Array([1, 2]));
    edgeThatSends([success("AQI=", hash, { encoding: "base64" })], summaryOf("binary"));
    expect(await callIt()).toMatchObject({ ok: true, data: new Uint8Array([1, 2]) });
  });

  it.each([
    "../../secret",
    "a/b",
    "a\\b",
    "con.txt",
    ".profile",
    "pour\u202Etxt",
    "",
    "Pour",
    "p".repeat(65),
    "pour\n",
  ])("has no tool that is named %j: a file would be named after it", (name) => {
    const tool = summaryOf("stream") as { readonly manifest: object };
    const named = { ...tool, manifest: { ...tool.manifest, name } };
    expect(() => readTools({ tools: [named] })).toThrow(EdgeFault);
  });
});
