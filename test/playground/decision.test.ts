import {
  type ApprovalAnswer,
  type AuditEvent,
  createKernel,
  type JsonObject,
  type JsonValue,
  type Mode,
  type PolicyDocument,
} from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { decidedIn, ladderOf, type Rung } from "../../packages/playground/src/decision/ladder.ts";
import { type Remedy, remediesOf } from "../../packages/playground/src/decision/remedies.ts";
import type { ActiveRun } from "../../packages/playground/src/run/run-state.ts";
import kvPut from "../../packages/worker-host/src/tools/kv-put.ts";
import readFile from "../../packages/worker-host/src/tools/read-file.ts";
import { registerAny } from "../support/registered.ts";

const anywhere = { version: "1", posture: "standard" } as const satisfies PolicyDocument;
const keys = { tool: "kv_put", capability: { kind: "kv.write", keys: ["notes/"] } } as const;
const kept = { ...anywhere, grants: [keys] } as const satisfies PolicyDocument;

interface Made {
  readonly tool?: "kv_put" | "read_file";
  readonly input?: JsonObject;
  readonly policy?: PolicyDocument;
  readonly mode?: Mode;
  readonly answer?: ApprovalAnswer["answer"];
}

/** A call of a real kernel, as the page has it. */
async function runOf({
  tool = "kv_put",
  input,
  policy = kept,
  mode = "NORMAL",
  answer = "deny",
}: Made): Promise<ActiveRun> {
  const kernel = await createKernel({ policy });
  registerAny(kernel, kvPut);
  registerAny(kernel, readFile);
  if (mode !== "NORMAL") await kernel.setMode(mode, "a test");
  const events: AuditEvent[] = [];
  const summary = kernel.list().find(({ manifest }) => manifest.name === tool) ?? expect.unreachable("no such tool");
  const given: JsonValue = input ?? (tool === "kv_put" ? { key: "notes/a", value: "b" } : { path: "notes/a.txt" });
  const result = await kernel.call(tool, given, {
    approver: async () =>
      answer === "allow" ? { answer, scope: "once", approver: "ada" } : { answer: "deny", approver: "ada" },
    onEvent: (event) => events.push(event),
  });
  const trace = { tool: summary, input: given, startedAt: 0, events, logs: [], progress: undefined };
  return { ...trace, phase: "done", result, file: undefined };
}

async function statesOf(made: Made): Promise<Partial<Record<Rung["name"], Rung["state"]>>> {
  const run = await runOf(made);
  const rungs = ladderOf(run, decidedIn(run) ?? expect.unreachable("it is decided"));
  return Object.fromEntries(rungs.map(({ name, state }) => [name, state]));
}

async function remedies(made: Made, policy: PolicyDocument = made.policy ?? kept): Promise<readonly Remedy[]> {
  const run = await runOf(made);
  return remediesOf(run, decidedIn(run) ?? expect.unreachable("it is decided"), policy as unknown as JsonValue);
}

const weighed = { input: "passed", grants: "passed", mode: "passed", posture: "passed", rules: "passed" } as const;
const rule = { id: "no-notes", effect: "deny", when: { tool: ["kv_put"] }, reason: "Not now." } as const;

describe("the step that decided", () => {
  it.each<[string, Made, object]>([
    [
      "no grant",
      { policy: anywhere },
      { input: "passed", grants: "decides", mode: "unreached", requests: "unreached" },
    ],
    ["the mode", { mode: "LOCKDOWN" }, { ...weighed, mode: "decides", approval: "unreached", requests: "unreached" }],
    ["a rule", { policy: { ...kept, rules: [rule] } }, { ...weighed, rules: "decides", requests: "unreached" }],
    ["a person's no", {}, { ...weighed, posture: "asks", approval: "decides", requests: "unreached" }],
    ["a person's yes", { answer: "allow" }, { ...weighed, posture: "asks", approval: "decides", requests: "passed" }],
    ["the schema", { input: { key: 7 } }, { input: "decides", grants: "unreached", rules: "unreached" }],
    [
      "the target that the arguments name",
      { input: { key: "other/a", value: "b" } },
      { ...weighed, target: "decides", approval: "unreached" },
    ],
  ])("is the one where the call ended: %s", async (_, made, states) => {
    expect(await statesOf(made)).toMatchObject(states);
  });

  it("is not known while nothing is decided", async () => {
    const run = await runOf({});
    const { tool, input, startedAt, logs, progress } = run;
    const trace = { tool, input, startedAt, events: run.events.slice(0, 1), logs, progress };
    expect(decidedIn({ ...trace, phase: "running", cancelling: false, received: undefined })).toBeUndefined();
  });
});

describe("what would change it", () => {
  it("is the narrowest grant, and with it the call is no longer refused for want of one", async () => {
    const made = { tool: "read_file", policy: anywhere } as const;
    const [remedy, other] = await remedies(made);
    expect(other).toBeUndefined();
    expect(remedy?.added).toMatchObject({ tool: "read_file", capability: { kind: "fs.read", paths: ["notes/a.txt"] } });
    const states = await statesOf({ ...made, policy: remedy?.document ?? expect.unreachable("no remedy") });
    expect(states.grants).toBe("passed");
  });

  it("is a rule for these arguments alone, where the posture asked", async () => {
    const [remedy] = await remedies({});
    const policy = remedy?.document ?? expect.unreachable("no remedy");
    expect(await statesOf({ policy })).toMatchObject({ rules: "decides" });
    expect(await statesOf({ policy, input: { key: "notes/a", value: "c" } })).toMatchObject({ posture: "asks" });
    const [again] = await remedies({ input: { key: "notes/a", value: "c" } }, policy);
    expect(again?.added).toMatchObject({ id: "allow-kv-put-2" });
  });

  it("is told to be in force already where the policy has it", async () => {
    for (const made of [{ tool: "read_file", policy: anywhere }, {}] as const) {
      const [before] = await remedies(made);
      const [after] = await remedies(made, before?.document);
      expect(before?.document).toBeDefined();
      expect(after).toEqual({ ...before, document: undefined });
    }
  });

  it.each<[string, Made]>([
    ["a mode decided", { mode: "LOCKDOWN" }],
    ["a rule denies", { policy: { ...kept, rules: [rule] } }],
    ["the schema refused", { input: { key: 7 } }],
    ["the input is long", { input: { key: "notes/a", value: "b".repeat(500) } }],
  ])("is offered no change of the policy where %s", async (_, made) => {
    expect(await remedies(made)).toEqual([]);
  });
});
