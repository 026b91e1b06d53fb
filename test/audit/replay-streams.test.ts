import { createKernel, hashBytes, type IsolateHost, type RegisteredTool, systemClock } from "@keyhole/kernel";
import { inlineHost } from "@keyhole/kernel/inline";
import { inspect, readRun, recordingHost, replay, rerun, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { nodeHost } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { poured } from "../contract/isolate-stream.ts";
import { drinkFor, pourFor } from "../contract/isolate-subject.ts";
import { openPolicy } from "../support/kernel.ts";
import { bodySource, joined, sink } from "../support/streams.ts";
import { registerAny, registered } from "../support/registered.ts";

/** Written to a file and read again. */
async function saved(entries: readonly RunEntry[]): Promise<readonly RunEntry[]> {
  const read = await readRun(writeRun({ entries }).split("\n"));
  if (!read.ok) throw new Error(`line ${read.line}: ${read.reason}`);
  return read.run.entries;
}

describe.each<[string, () => IsolateHost | Promise<IsolateHost>]>([
  ["inline", inlineHost],
  ["in the interpreter", nodeHost],
])("a run of streams, %s", (_, makeHost) => {
  let host: IsolateHost;
  let tools: readonly RegisteredTool[];
  beforeAll(async () => {
    host = await makeHost();
    tools = [registered(pourFor(host)), registered(drinkFor(host))];
  });
  afterAll(() => host.close());

  /** Calls one of the tools under a recording. */
  async function recorded(tool: "pour" | "drink", input: object, chunks?: readonly Uint8Array[]) {
    const entries: RunEntry[] = [];
    const recording = recordingHost(host, (entry) => entries.push(entry));
    // An inline tool runs on a kernel's own host unless another one takes its source.
    const kernel = await createKernel({ host: { ...recording, close: async () => {} }, policy: openPolicy });
    registerAny(kernel, tool === "pour" ? pourFor(host) : drinkFor(host));
    const { output, pieces } = sink();
    const body = chunks && bodySource(chunks).body;
    const result = await kernel.call(tool, input, { output, ...(body && { body }) });
    await kernel.close();
    return { result, bytes: joined(pieces), entries: await saved(entries) };
  }

  const replayed = (entries: readonly RunEntry[]) => replay({ entries }, { host, tools, clock: systemClock });

  it("gives an output of many pieces again, to the same bytes", async () => {
    const { result, bytes, entries } = await recorded("pour", { deed: "pour", pieces: 30, length: 20_000 });
    expect(result).toMatchObject({ ok: true, hash: hashBytes(poured(30, 20_000)) });
    expect(bytes).toEqual(poured(30, 20_000));
    expect(await replayed(entries)).toEqual({ ok: true, calls: 1 });
    // Of the bytes the run has the digest: it stays small, whatever flowed.
    expect(entries.at(-1)).toMatchObject({ kind: "outcome", result: { form: "stream", byteLength: 600_000 } });
    expect(writeRun({ entries }).length).toBeLessThan(4_000);
  });

  it("tells a stream that was another one", async () => {
    const { entries } = await recorded("pour", { deed: "pour", pieces: 3, length: 10 });
    const other = entries.map((entry) =>
      entry.kind === "call" ? { ...entry, inputText: entry.inputText.replace('"pieces":3', '"pieces":4') } : entry,
    );
    expect(await replayed(other)).toMatchObject({
      ok: false,
      kind: "diverged",
      divergence: { difference: { path: "/byteLength", expected: "30", actual: "40" } },
    });
  });

  it("gives the tool its body again, and nobody is asked for it", async () => {
    const chunks = [poured(9, 50_000), new Uint8Array([1, 2, 3])];
    const { result, entries } = await recorded("drink", { deed: "echo" }, chunks);
    expect(result).toMatchObject({ ok: true, hash: hashBytes(joined(chunks)) });
    expect(await replayed(entries)).toEqual({ ok: true, calls: 1 });
  });

  it.each(["taste", "leave", "ask meanwhile", "read on after the end"])(
    "gives as much of a body as was read: %s",
    async (deed) => {
      const { result, entries } = await recorded("drink", { deed }, [poured(3, 10), poured(2, 10)]);
      if (deed !== "ask meanwhile") expect(result).toMatchObject({ ok: true });
      expect(await replayed(entries)).toEqual({ ok: true, calls: 1 });
    },
  );

  it("diverges where the body was changed", async () => {
    const { entries } = await recorded("drink", { deed: "echo" }, [new Uint8Array([1, 2, 3])]);
    const changed = entries.map((entry) => (entry.kind === "reply" && entry.body ? { ...entry, body: "BBBB" } : entry));
    expect(await replayed(changed)).toMatchObject({ ok: false, kind: "diverged" });
  });

  it.each<[string, object]>([
    ["a text", { ok: true, value: null, body: "bytes" }],
    ["what looks like bytes", { ok: true, value: null, body: { length: 1, buffer: {} } }],
    ["no answer", {}],
  ])("diverges where an answer was forged: %s", async (_, reply) => {
    const { entries } = await recorded("drink", { deed: "echo" }, [new Uint8Array([1, 2, 3])]);
    const forged = entries.map((entry) =>
      entry.kind === "reply" ? { ...entry, reply: reply as never, body: null } : entry,
    );
    expect(await replayed(await saved(forged))).toMatchObject({ ok: false, kind: "diverged" });
  });

  it("is looked at, and run afresh with a body of its own", async () => {
    const { entries } = await recorded("drink", { deed: "count" }, [new Uint8Array(5)]);
    const [call] = inspect({ entries });
    expect(call!.requests[0]).toMatchObject({ request: { kind: "body", operation: "read" }, reply: { ok: true } });
    const kernel = await createKernel({ host, policy: openPolicy });
    registerAny(kernel, drinkFor(host));
    expect(await rerun(kernel, call!)).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    const { body } = bodySource([new Uint8Array(7)]);
    expect(await rerun(kernel, call!, { body })).toMatchObject({ ok: true });
  });
});
