import assert from "node:assert/strict";
import { test } from "node:test";
import { type AuditEvent, verifyChain } from "@keyhole/kernel";
import { readRun, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { type ScriptedAnswer, scriptedApprover } from "@keyhole/kernel/testing";
import type { RunBudget, RunPart } from "@keyhole/agents/agent-run";
import { type LanguageModel, simulateReadableStream } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { openAgent } from "../src/agent.ts";
import { openKernel } from "../src/kernel.ts";

type Turn = string | readonly (readonly [tool: string, input: object])[];
type Part =
  Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer Each> ? Each : never;

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 },
};

/** A model that gives these turns in order, for any prompt. */
function scripted(...turns: readonly Turn[]): LanguageModel {
  let calls = 0;
  const partsOf = (turn: Turn): Part[] =>
    typeof turn === "string"
      ? [
          { type: "text-start", id: "0" },
          { type: "text-delta", id: "0", delta: turn },
          { type: "text-end", id: "0" },
          { type: "finish", usage, finishReason: { unified: "stop", raw: undefined } },
        ]
      : [
          ...turn.map(([toolName, input]): Part => ({
            type: "tool-call",
            toolCallId: `${++calls}`,
            toolName,
            input: JSON.stringify(input),
          })),
          { type: "finish", usage, finishReason: { unified: "tool-calls", raw: undefined } },
        ];
  const answers = turns.map((turn) => ({ stream: simulateReadableStream({ chunks: partsOf(turn) }) }));
  return new MockLanguageModelV4({ doStream: answers });
}

interface Told {
  readonly ends: readonly string[];
  readonly end: string | undefined;
  readonly events: readonly AuditEvent[];
  readonly entries: readonly RunEntry[];
}

/** One turn. @param answers to the questions of its calls */
async function turn(model: LanguageModel, answers: readonly ScriptedAnswer[] = [], budget?: RunBudget): Promise<Told> {
  const entries: RunEntry[] = [];
  const kernel = await openKernel({
    approver: scriptedApprover(...answers).approver,
    record: (entry) => void entries.push(entry),
  });
  const parts: RunPart[] = [];
  for await (const part of openAgent(model, kernel, budget).send({ role: "user", content: "go" })) parts.push(part);
  const events = (await kernel.audit.read()).filter(({ callId }) => callId !== null);
  await kernel.close();
  const ends = parts.flatMap((part) =>
    part.type === "answer" ? [part.answer.ok ? "ok" : part.answer.error.code] : [],
  );
  return { ends, end: parts.flatMap((part) => (part.type === "end" ? [part.end] : []))[0], events, entries };
}

test("ten tools work for one agent: one session, one trace, one chain and one run file", async () => {
  const note = { path: "notes/todo.txt", text: "Water the plants." };
  const model = scripted(
    [
      ["calculator", { expression: "6 * 7" }],
      ["hash", { data: "keyhole" }],
      ["kv_put", { key: "agent/step", value: "one" }],
      ["kv_get", { key: "agent/step" }],
      ["word_count", { text: "one two" }],
    ],
    [
      ["save_note", note],
      ["write_file", { path: "drafts/plan.txt", content: "Plan.\n" }],
      ["list_directory", { path: "notes" }],
      ["read_file", { path: "notes/todo.txt" }],
      ["run_code", { code: 'return (await tools.word_count({ text: "a b c" })).words;' }],
    ],
    "Done.",
  );
  const { ends, end, events, entries } = await turn(model, ["allow", "allow", "allow"]);
  assert.deepEqual(ends, Array(10).fill("ok"));
  assert.equal(end, "answered");
  assert.equal(new Set(events.map(({ sessionId }) => sessionId)).size, 1);
  assert.equal(new Set(events.map(({ traceparent }) => traceparent?.slice(0, 35))).size, 1);
  assert.equal(verifyChain(events).ok, true);
  const read = await readRun(writeRun({ entries }).split("\n"));
  assert.equal(read.ok && read.run.entries.length, entries.length);
});

test("a refusal reaches the model as data: no approval, a path that is not granted, a rule", async () => {
  const model = scripted(
    [
      ["save_note", { path: "notes/todo.txt", text: "" }],
      ["save_note", { path: "secrets/key.txt", text: "" }],
      ["save_note", { path: "notes/private/a.txt", text: "" }],
      ["read_file", { path: "notes/private/a.txt" }],
      ["list_directory", { path: "notes/private" }],
    ],
    "Five calls were refused.",
  );
  const { ends, end } = await turn(model, ["deny"]);
  assert.deepEqual(ends, ["APPROVAL_DENIED", "CAPABILITY_DENIED", "POLICY_DENIED", "POLICY_DENIED", "POLICY_DENIED"]);
  assert.equal(end, "answered");
});

test("the budget of calls ends the turn", async () => {
  const call = ["word_count", { text: "one" }] as const;
  const { ends, end } = await turn(scripted([call, call], "never said"), [], { calls: 1 });
  assert.deepEqual(ends, ["ok", "BOUNDS_EXCEEDED"]);
  assert.equal(end, "calls");
});
