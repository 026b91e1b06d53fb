import type { AuditEvent, CallResult, KernelOptions, JsonValue, ToolSummary } from "@keyhole/kernel";
import { normalizers } from "@keyhole/kernel/normalizers";
import { describe, expect, it } from "vitest";
import type { Answer } from "../../packages/worker-host/src/edge/evidence.ts";
import { verifyAnswer } from "../../packages/worker-host/src/edge/verify-answer.ts";
import { openKernel, toolOf } from "../support/kernel.ts";

/** A call as an edge would send it: everything went through JSON. */
async function answerOf(
  tool: ReturnType<typeof toolOf>,
  input: JsonValue,
  options?: KernelOptions,
): Promise<Answer & { readonly tool: ToolSummary }> {
  const { kernel } = await openKernel(options);
  kernel.registerTrusted(tool);
  const events: AuditEvent[] = [];
  const result = await kernel.call("subject", input, { onEvent: (event) => events.push(event) });
  const [summary] = kernel.list();
  const isBinary = result.ok && result.data instanceof Uint8Array;
  const plain = isBinary ? result : copy(result);
  return { tool: copy(summary!), inputs: [input], result: plain, events: copy(events), hasStream: false };
}

function copy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

const reasonsOf = (answer: Answer): readonly string[] =>
  verifyAnswer(answer).checks.flatMap(({ reason }) => (reason === "" ? [] : [reason]));

const text = await answerOf(
  toolOf(() => "one\r\ntwo e\u0301", { output: { kind: "text" } }),
  {},
);
const bytes = await answerOf(
  toolOf(() => new Uint8Array([1, 2]), { output: { kind: "binary" } }),
  {},
);
const json = await answerOf(
  toolOf(() => ({ b: [1, 2.5, -0, null], a: "ü\u202e" })),
  {},
);

const money = { name: "money", version: "1.0.0", normalize: () => [1] };
const ownForm = await answerOf(
  toolOf(() => [2], { normalization: { custom: "money" } }),
  {},
  { normalizers: normalizers([money]) },
);
const stream = await answerOf(
  toolOf(
    function* () {
      yield Uint8Array.of(1);
    },
    { output: { kind: "stream" } },
  ),
  {},
);

describe("an answer of an edge", () => {
  it.each<readonly [string, Answer]>([
    ["data", json],
    ["text", text],
    ["bytes", bytes],
    ["data in a normal form of the edge's own program", ownForm],
  ])("is unvouched when every hash can be recomputed: %s", (_, answer) => {
    expect(verifyAnswer(answer)).toMatchObject({ verdict: "unvouched" });
  });

  it("is unvouched when the call failed in the tool, or before the tool ran", async () => {
    const thrown = await answerOf(
      toolOf(() => {
        throw new Error("no");
      }),
      {},
    );
    expect(thrown.result).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
    expect(verifyAnswer(thrown)).toMatchObject({ verdict: "unvouched" });
    const denied = await answerOf(
      toolOf(() => 1, { tier: 4 }),
      {},
    );
    expect(denied.result).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    expect(verifyAnswer(denied)).toMatchObject({ verdict: "unvouched" });
  });

  it("is broken when any part of the result, the proof or the events was changed", () => {
    const { data, hash, proof } = json.result as Extract<CallResult, { ok: true }>;
    const whole = { data, hash, proof, events: json.events } as unknown as JsonValue;
    const places = leavesOf(whole);
    expect(places.length).toBeGreaterThan(80);
    for (const place of places) {
      const { events, ...rest } = changed(whole, place) as { readonly events: readonly AuditEvent[] };
      const answer = { ...json, events, result: { ...json.result, ...rest } as CallResult };
      expect({ place, verdict: verifyAnswer(answer).verdict }).toEqual({ place, verdict: "broken" });
    }
  });

  it.each<readonly [string, Partial<Answer>, string]>([
    ["another call's proof", { result: { ...json.result, callId: "other" } }, "The proof is of another call."],
    [
      "another input",
      { inputs: [{ amount: 2 }] },
      "The proof is for another input than the one that this client sent.",
    ],
    ["another tool", { tool: { ...json.tool, id: "other@1.0.0" } }, "The answer is of another tool."],
    [
      "a manifest that is not the hashed one",
      { tool: { ...json.tool, manifest: { ...json.tool.manifest, description: "Harmless." } } },
      "The hash of the tool is not that of its manifest.",
    ],
    ["no proof", { result: { ...json.result, proof: undefined } as never }, "There is no proof."],
    ["no end", { events: json.events.slice(0, -1) }, "The events do not have the end of the call."],
    [
      "a hidden event",
      { events: json.events.filter(({ type }) => type !== "policy.decided") },
      "The events do not have the decision of the proof.",
    ],
    ["events in another order", { events: json.events.toReversed() }, "is missing"],
  ])("is broken with %s", (_, more, reason) => {
    const answer = { ...json, ...more };
    expect(verifyAnswer(answer).verdict).toBe("broken");
    expect(reasonsOf(answer).join(" ")).toContain(reason);
  });

  it.each<readonly [string, Partial<Answer>, string]>([
    ["without events", { events: [] }, "The edge sent no event."],
    [
      "with a gap between the events",
      { events: json.events.filter(({ type }) => type !== "tool.started") },
      "Each event has its hash. Events of other calls lie between them, so the chain is not whole here.",
    ],
  ])("is inconclusive %s, and says why", (_, more, reason) => {
    expect(reasonsOf({ ...json, ...more })).toContain(reason);
    expect(verifyAnswer({ ...json, ...more }).verdict).not.toBe("unvouched");
  });

  it("is inconclusive when a stream did not come to this page", () => {
    expect(reasonsOf(stream)).toEqual(["The bytes of the stream did not come to this client."]);
    expect(reasonsOf({ ...stream, hasStream: true })).toEqual([]);
  });

  it("may hold anything: no check throws", () => {
    for (const odd of [null, 1, "x", [], {}, { a: 1 }]) {
      const result = { ...json.result, proof: odd, hash: odd, data: odd } as never;
      const events = [{ ...json.events[0]!, payload: odd, hash: odd, seq: odd }] as never;
      expect(verifyAnswer({ ...json, result, events }).verdict).toBe("broken");
    }
  });
});

/** JSON Pointers, as lists of names. */
function leavesOf(value: unknown, at: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [at];
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, [...at, name]));
}

function changed(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined) return typeof value === "number" ? value + 1 : value === "x" ? "y" : "x";
  const copied = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copied[name] = changed(copied[name], rest);
  return copied;
}
