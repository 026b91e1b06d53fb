import type { CallResult, ToolSummary } from "@keyhole/kernel";
import type { RunEntry } from "@keyhole/kernel/replay";
import { describe, expect, it } from "vitest";
import { RecordedRuns } from "../../packages/playground/src/kernel/recorded-runs.ts";
import { reduceRun, startRun } from "../../packages/playground/src/run/run-state.ts";
import { decisionOf } from "../../packages/playground/src/run/decision-text.ts";
import { wantedOf } from "../../packages/playground/src/run/wanted.ts";
import { lineOf } from "../../packages/playground/src/session/call-head.ts";

const schema = {
  required: ["url"],
  properties: { method: { default: "GET" }, headers: { default: {} }, url: { type: "string" } },
};

describe("an input in one line", () => {
  it.each([
    [
      "the required value first, without defaults",
      { method: "GET", headers: {}, url: "https://a/" },
      schema,
      "https://a/",
    ],
    ["members that differ from their default", { method: "PUT", url: "https://a/" }, schema, "https://a/ method PUT"],
    [
      "a required member that has its default",
      { url: "x" },
      { required: ["url"], properties: { url: { default: "x" } } },
      "x",
    ],
    ["the names of several required members", { b: 1, a: "x" }, { required: ["a", "b"] }, "b 1 a x"],
    ["the only member without its name", { message: "hi" }, {}, "hi"],
    ["a schema that lies about everything", { a: 1 }, { required: "a", properties: [null] }, "1"],
    ["a name of the prototype", { a: 1 }, { properties: { __proto__: { default: 1 } } }, "1"],
    ["no members", {}, schema, ""],
    ["a text", "plain", schema, "plain"],
  ])("has %s", (_, input, forms, line) => {
    expect(lineOf(input, forms as never)).toBe(line);
  });

  it("is short, however long the input", () => {
    expect(lineOf({ url: "x".repeat(100_000) }, schema)).toHaveLength(300);
  });
});

const grant = '{"tool":"t","capability":{"kind":"net.read","hosts":["a.example"],"ports":[8443],"paths":["/c"]}}';
const proof = {
  decision: "deny",
  reasonCode: "capability-denied",
};
const refused = (operatorHint: unknown) => {
  const result = { ok: false, error: { code: "CAPABILITY_DENIED", operatorHint }, proof } as unknown as CallResult;
  const run = startRun({ tool: { id: "t@1.0.0" } as ToolSummary, input: {}, startedAt: 0 }, undefined);
  return reduceRun(run, { type: "done", result, file: undefined });
};

describe("the access that a call lacked", () => {
  it.each([
    ["names host, port and path", `Add it to the grants of the policy: ${grant}`, ["net.read a.example:8443/c"]],
    ["is not known where the edge keeps the hint", undefined, []],
    ["is not known where the hint is broken", 'Add it to the grants of the policy: {"capability":{"kind":', []],
    ["is not known where the kind is no text", 'Add it to the grants of the policy: {"capability":{"kind":{}}}', []],
  ])("%s", (_, hint, wanted) => {
    expect(wantedOf(refused(hint)).map(({ kind, target }) => `${kind} ${target}`)).toEqual(wanted);
  });

  it("is unknown for a proof that is none, and the sentence says when the call ended", () => {
    expect(decisionOf(refused(undefined))).toBe("It ended before the policy was asked.");
  });
});

const entry = (callId: string, body = ""): RunEntry => ({ kind: "reply", callId, index: 0, reply: {}, body });

describe("the records of calls", () => {
  it("are given once, in the order of what happened", () => {
    const runs = new RecordedRuns();
    for (const [callId, body] of [
      ["a", "1"],
      ["b", "2"],
      ["a", "3"],
    ] as const)
      runs.write(entry(callId, body));
    expect(runs.take(["b", "a", "c"])?.map((each) => "body" in each && each.body)).toEqual(["1", "2", "3"]);
    expect(runs.take(["a", "b"])).toBeUndefined();
  });

  it("are dropped as a whole where one is too long, and do not keep others", () => {
    const runs = new RecordedRuns();
    runs.write(entry("a", "x".repeat(3 << 20)));
    runs.write(entry("a", "x".repeat(2 << 20)));
    runs.write(entry("a", "short"));
    runs.write(entry("b", "short"));
    expect(runs.take(["a"])).toBeUndefined();
    expect(runs.take(["b"])).toHaveLength(1);
  });

  it("stay few, however many calls nobody takes", () => {
    const runs = new RecordedRuns();
    for (let at = 0; at < 1_100; at++) runs.write(entry(`${at}`));
    expect(runs.take(["99"])).toBeUndefined();
    expect(runs.take(["1099"])).toHaveLength(1);
  });
});
