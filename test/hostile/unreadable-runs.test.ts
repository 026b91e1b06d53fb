import { systemClock } from "@keyhole/kernel";
import { inlineHost } from "@keyhole/kernel/inline";
import { readRun, replay, type Run, writeRun } from "@keyhole/kernel/replay";
import { describe, expect, it } from "vitest";
import { toolOf } from "../support/kernel.ts";
import { type Definition, type Execute, nested, recordedCall } from "../support/recorded-call.ts";
import { registered } from "../support/registered.ts";

const files = [
  { kind: "fs.read", paths: ["**"] },
  { kind: "fs.write", paths: ["**"] },
] as const;
const calling = [{ kind: "tool.call", tools: ["nested"] }] as const;

describe("a recorded run is readable and replays to the same bytes", () => {
  it.each<[string, Execute, Definition]>([
    [
      "after a request for a path with a lone surrogate",
      (_, { files: given }: { files: { read(path: string): Promise<unknown> } }) =>
        given.read("\ud800").catch((error: Error) => error.message),
      { effects: ["fs.read"], capabilities: [files[0]] },
    ],
    [
      "after requests whose arguments nest too deeply or are no data",
      async (_, { tools }: { tools: { call(name: string, input: unknown): Promise<{ ok: boolean }> } }) => {
        const loop: Record<string, unknown> = {};
        loop["again"] = loop;
        const asked = [deep(65), deep(400), deep(5_000), loop, { big: 1n }, { call: () => {} }];
        return Promise.all(asked.map((input) => tools.call("nested", input).then(String, String)));
      },
      { capabilities: calling },
    ],
    [
      "after a nested call with input and output of the greatest depth",
      async (_, { tools }: { tools: { call(name: string, input: unknown): Promise<unknown> } }) =>
        JSON.stringify(await tools.call("nested", deep(63))).length,
      { capabilities: calling },
    ],
    [
      "after a request for a large file",
      async (_, { files: given }: { files: Files }) => {
        await given.write("a", new Uint8Array(13_000_000).fill(7));
        return (await given.read("a")).length;
      },
      { effects: ["fs.read", "fs.write"], capabilities: files },
    ],
    [
      "after an output of 17 MB of text",
      () => "x".repeat(17_000_000),
      { output: { kind: "text" }, bounds: { outputBytes: 20_000_000 } },
    ],
  ])("%s", async (_, execute, more) => {
    const entries = await recordedCall(execute, more);
    const read = await readRun(writeRun({ entries }).split("\n"));
    expect(read).toMatchObject({ ok: true });
    const tools = [toolOf(execute, { determinism: "external", ...more }), nested].map((tool) => registered(tool));
    const run: Run = read.ok ? read.run : { entries: [] };
    expect(await replay(run, { host: inlineHost(), tools, clock: systemClock })).toMatchObject({ ok: true });
  });
});

interface Files {
  read(path: string): Promise<Uint8Array>;
  write(path: string, bytes: Uint8Array): Promise<unknown>;
}

function deep(levels: number): object {
  let value = {};
  for (let i = 1; i < levels; i++) value = { a: value };
  return value;
}
