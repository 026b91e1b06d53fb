import { blake3Hash, type Capability, createKernel, inlineHost, systemClock } from "@keyhole/kernel";
import { inspect, readRun, recordingHost, replay, type Run, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { describe, expect, it } from "vitest";
import { toolOf } from "../support/kernel.ts";
import { registered } from "../support/registered.ts";

type Subject = Parameters<typeof toolOf>[0];
type Definition = { readonly capabilities?: readonly Capability[] } & Record<string, unknown>;

const files = [
  { kind: "fs.read", paths: ["**"] },
  { kind: "fs.write", paths: ["**"] },
] as const;
const calling = [{ kind: "tool.call", tools: ["nested"] }] as const;
const nested = toolOf((input: unknown) => input, { name: "nested" });

/** What one call of a tool leaves. */
async function recorded(execute: Subject, more: Definition = {}): Promise<readonly RunEntry[]> {
  const entries: RunEntry[] = [];
  const capabilities = more.capabilities ?? [];
  const kernel = await createKernel({
    host: recordingHost(inlineHost(), (entry) => entries.push(entry)),
    brokers: [filesBroker(memoryStore())],
    policy: {
      version: "1",
      posture: "permissive",
      grants: capabilities.map((capability) => ({ tool: "subject", capability })),
    },
  });
  kernel.register(toolOf(execute, { determinism: "external", ...more }));
  kernel.register(nested);
  await kernel.call("subject", {});
  await kernel.close();
  return entries;
}

describe("a recorded run can be read again and gives the same bytes", () => {
  it.each<[string, Subject, Definition]>([
    [
      "whose tool asked for a path that no text can be",
      (_, { files: given }: { files: { read(path: string): Promise<unknown> } }) =>
        given.read("\ud800").catch((error: Error) => error.message),
      { effects: ["fs.read"], capabilities: [files[0]] },
    ],
    [
      "whose tool asked with arguments that nest too deeply, or are no data",
      async (_, { tools }: { tools: { call(name: string, input: unknown): Promise<{ ok: boolean }> } }) => {
        const loop: Record<string, unknown> = {};
        loop["again"] = loop;
        const asked = [deep(65), deep(400), deep(5_000), loop, { big: 1n }, { call: () => {} }];
        return Promise.all(asked.map((input) => tools.call("nested", input).then(String, String)));
      },
      { capabilities: calling },
    ],
    [
      "whose tool called with the deepest input, and was answered as deeply",
      async (_, { tools }: { tools: { call(name: string, input: unknown): Promise<unknown> } }) =>
        JSON.stringify(await tools.call("nested", deep(63))).length,
      { capabilities: calling },
    ],
    [
      "whose tool read a large file",
      async (_, { files: given }: { files: Files }) => {
        await given.write("a", new Uint8Array(13_000_000).fill(7));
        return (await given.read("a")).length;
      },
      { effects: ["fs.read", "fs.write"], capabilities: files },
    ],
    [
      "that gave a large text",
      () => "x".repeat(17_000_000),
      { output: { kind: "text" }, bounds: { outputBytes: 20_000_000 } },
    ],
  ])("%s", async (_, execute, more) => {
    // prettier-ignore
    const entries = await recorded(execute, more);
    const read = await readRun(writeRun({ entries }).split("\n"));
    expect(read).toMatchObject({ ok: true });
    const tools = [toolOf(execute, { determinism: "external", ...more }), nested].map((tool) => registered(tool));
    const run: Run = read.ok ? read.run : { entries: [] };
    expect(await replay(run, { host: inlineHost(), tools, clock: systemClock })).toMatchObject({ ok: true });
  });
});

const reads: Subject = async (_, { files: given }: { files: Files }) =>
  given.read("a").catch((error: Error) => error.message);
const [call, request, reply, outcome] = (await recorded(reads, {
  effects: ["fs.read"],
  capabilities: [files[0]],
})) as [Of<"call">, Of<"request">, Of<"reply">, Of<"outcome">];

describe("a run file that says something else than its digests is refused", () => {
  const read = (...entries: readonly RunEntry[]) => readRun(writeRun({ entries }).split("\n"));
  const result = { form: "json", text: '"nothing was read"' };

  it("as it is, it is whole", async () => {
    expect(await read(call, request, reply, outcome)).toMatchObject({ ok: true });
  });

  it.each<[string, readonly RunEntry[], number, RegExp]>([
    [
      "a request",
      [call, { ...request, request: { ...request.request, operation: "list" } }],
      3,
      /^Call .*not what its digest/,
    ],
    ["a fault", [call, { ...request, request: { fault: "too-deep" } }], 3, /^Call .*not what its digest/],
    ["an outcome", [call, request, reply, { ...outcome, result }], 5, /^Call .*not what its digest/],
    ["how it ended", [call, request, reply, { ...outcome, outcome: "refused" }], 5, /^Call .*not what its digest/],
    [
      "of bytes",
      [call, request, reply, { ...outcome, result: { form: "binary", byteLength: 1, hash: blake3Hash.zero } }],
      5,
      /^Call .*not what its digest/,
    ],
    ["a body that is not in the one form of its bytes", [call, request, { ...reply, body: " QQ==" }], 4, /not base64/],
    ["a body without its padding", [call, request, { ...reply, body: "QQ" }], 4, /not base64/],
    ["a time that no clock shows", [{ ...call, nowMs: 8.64e15 + 1 }], 2, /no entry of a run: \/nowMs/],
  ])("%s", async (_, entries, line, reason) => {
    // prettier-ignore
    expect(await read(...entries)).toEqual({ ok: false, line, reason: expect.stringMatching(reason) });
  });

  it("and the last time of all clocks can be read", async () => {
    const read1 = await read({ ...call, callId: "c", nowMs: 8.64e15 }, { ...outcome, callId: "c" });
    expect(read1.ok && inspect(read1.run)[0]!.startedAt).toBe("+275760-09-13T00:00:00.000Z");
  });

  it("a line that names a member twice", async () => {
    const lines = writeRun({ entries: [call, request, reply, outcome] }).split("\n");
    lines[1] = lines[1]!.replace("{", '{"inputText":"{\\"n\\":1}",');
    const hash = lines.slice(0, 5).reduce((before, line) => blake3Hash.text(`${before}\n${line}`), "");
    lines[5] = JSON.stringify({ kind: "end", entries: 4, hash });
    expect(await readRun(lines)).toEqual({ ok: false, line: 2, reason: "It names a member twice." });
  });
});

it("a run whose output was longer than the run says diverges", async () => {
  const gives: Subject = () => new Uint8Array(3);
  const more = { determinism: "external", output: { kind: "binary" } };
  const entries = await recorded(gives, more);
  const forged = entries.map((entry) =>
    entry.kind === "outcome" ? { ...entry, result: { ...entry.result, byteLength: 4 } } : entry,
  );
  const options = { host: inlineHost(), tools: [registered(toolOf(gives, more))], clock: systemClock };
  expect(await replay({ entries }, options)).toEqual({ ok: true, calls: 1 });
  expect(await replay({ entries: forged }, options)).toMatchObject({
    kind: "diverged",
    divergence: { difference: { path: "/byteLength", expected: "4", actual: "3" } },
  });
});

type Of<Kind extends RunEntry["kind"]> = Extract<RunEntry, { kind: Kind }>;

interface Files {
  read(path: string): Promise<Uint8Array>;
  write(path: string, bytes: Uint8Array): Promise<unknown>;
}

function deep(levels: number): object {
  let value = {};
  for (let i = 1; i < levels; i++) value = { a: value };
  return value;
}
