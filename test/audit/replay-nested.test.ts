import { createKernel, systemClock } from "@keyhole/kernel";
import { inlineHost } from "@keyhole/kernel/inline";
import { readRun, recordingHost, replay, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { describe, expect, it } from "vitest";
import { calling, leaf, openCalls } from "../support/nested.ts";
import { registered } from "../support/registered.ts";

const outer = calling("outer", async (_, { tools }) => {
  const answers = await Promise.all([1, 2, 3].map((n) => tools.call("inner", { n })));
  return answers.map((answer) => (answer.ok ? answer.data : answer.error.code));
});
const inner = (factor: number) => leaf("inner", ({ n }: { n: number }) => n * factor);

async function record(): Promise<readonly RunEntry[]> {
  const entries: RunEntry[] = [];
  const kernel = await createKernel({
    policy: openCalls,
    host: recordingHost(inlineHost(), (entry) => entries.push(entry)),
  });
  for (const tool of [outer, inner(2)]) kernel.registerTrusted(tool);
  const calls = await Promise.all([kernel.call("outer", {}), kernel.call("outer", {})]);
  expect(calls.map((result) => result.ok && result.data)).toEqual([
    [2, 4, 6],
    [2, 4, 6],
  ]);
  const read = await readRun(writeRun({ entries }).split("\n"));
  if (!read.ok) throw new Error(read.reason);
  return read.run.entries;
}

describe("a run with calls within calls, at the same time", () => {
  it("replays to the same bytes", async () => {
    const entries = await record();
    const tools = [registered(outer), registered(inner(2))];
    expect(await replay({ entries }, { host: inlineHost(), tools, clock: systemClock })).toEqual({
      ok: true,
      calls: 8,
    });
  });

  it("names the call that gives something else now", async () => {
    const entries = await record();
    const tools = [registered(outer), registered(inner(3))];
    const replayed = await replay({ entries }, { host: inlineHost(), tools, clock: systemClock });
    expect(replayed).toMatchObject({
      ok: false,
      kind: "diverged",
      divergence: { reason: expect.stringMatching(/^The tool returned another value\./) as string },
    });
    const call = !replayed.ok && replayed.kind === "diverged" ? replayed.divergence.callId : "";
    expect(entries.find((entry) => entry.kind === "call" && entry.callId === call)).toMatchObject({
      tool: "inner@1.0.0",
    });
  });
});
