import { type ApprovalAnswer, type Approver, type AuditEvent, type CallResult, defineTool } from "@keyhole/kernel";
import type { KernelClient } from "../../packages/worker-host/src/browser/kernel-client.ts";
import { expect, it } from "vitest";
import type { AnyTool } from "../support/registered.ts";
import { agentRunContract } from "./agent-run.ts";

type DistributiveOmit<Of, Name extends PropertyKey> = Of extends unknown ? Omit<Of, Name> : never;

const object = { type: "object" } as const;

/** Trusted tools, one for each way in which a call of a client can go. */
export const clientTools: readonly AnyTool[] = [
  defineTool({
    name: "say",
    version: "1.0.0",
    description: "Gives back its input, and reports on the way.",
    input: {
      type: "object",
      properties: { message: { type: "string" }, times: { type: "integer", default: 1 } },
      required: ["message"],
      additionalProperties: false,
    },
    output: { kind: "json" },
    execute: ({ message, times }, { log, progress }) => {
      log("saying");
      progress({ done: 1, total: 1 });
      return { message, times };
    },
  }),
  defineTool({
    name: "say",
    version: "0.9.0",
    description: "The older one.",
    input: object,
    output: { kind: "text" },
    execute: () => "old",
  }),
  defineTool({
    name: "blob",
    version: "1.0.0",
    description: "Gives four bytes.",
    input: object,
    output: { kind: "binary", mediaType: "application/octet-stream" },
    execute: () => new Uint8Array([0, 1, 254, 255]),
  }),
  defineTool({
    name: "drip",
    version: "1.0.0",
    description: "Gives bytes as they come.",
    input: object,
    output: { kind: "stream" },
    *execute() {
      for (let at = 0; at < 3; at++) yield new Uint8Array([at, at]);
    },
  }),
  defineTool({
    name: "invert",
    version: "1.0.0",
    description: "Gives back its body, each byte inverted.",
    input: object,
    body: {},
    output: { kind: "stream" },
    async *execute(_, { body }) {
      for await (const piece of body) yield piece.map((byte) => 255 - byte);
    },
  }),
  defineTool({
    name: "spend",
    version: "1.0.0",
    description: "Needs an approval under the standard posture.",
    tier: 2,
    input: { type: "object", properties: { amount: { type: "number" } } },
    output: { kind: "json" },
    execute: ({ amount }) => ({ amount: amount ?? null }),
  }),
  defineTool({
    name: "never",
    version: "1.0.0",
    description: "Is denied under the standard posture.",
    tier: 4,
    input: object,
    output: { kind: "text" },
    execute: () => "never",
  }),
  defineTool({
    name: "breaks",
    version: "1.0.0",
    description: "Throws.",
    input: object,
    output: { kind: "text" },
    execute: () => {
      throw new Error("it broke");
    },
  }),
  defineTool({
    name: "stays",
    version: "1.0.0",
    description: "Waits until it is cancelled.",
    bounds: { timeoutMs: 60_000 },
    input: object,
    output: { kind: "text" },
    execute: (_, { signal, log }) =>
      new Promise<string>((_resolve, reject) => {
        log("staying");
        signal.addEventListener("abort", () => reject(new Error("cancelled")));
      }),
  }),
];

/** What a program may expect of a kernel that it has a client of, wherever the kernel is. */
export function kernelClientContract(open: Open): void {
  callsContract(open);
  streamsContract(open);
  approvalsContract(open);
  readingContract(open);
  agentRunContract(open);
}

type Open = () => Promise<KernelClient>;

function callsContract(open: Open): void {
  it("is ready, and lists tools, also by a filter", async () => {
    const client = await open();
    await client.ready();
    const ids = (await client.list()).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["blob@1.0.0", "say@1.0.0", "say@0.9.0"]));
    expect((await client.list({ text: "inverted" })).map(({ id }) => id)).toContain("invert@1.0.0");
  });

  it("calls a tool, and hears its events, log lines and progress before the result", async () => {
    const client = await open();
    const heard: string[] = [];
    const events: AuditEvent[] = [];
    const result = await client.call(
      "say",
      { message: "hi" },
      {
        sessionId: "s",
        onEvent: (event) => void events.push(event),
        onLog: ({ message }) => void heard.push(message),
        onProgress: ({ done }) => void heard.push(`${done}`),
      },
    );
    expect(result).toMatchObject({ ok: true, data: { message: "hi", times: 1 }, tool: "say@1.0.0" });
    expect(heard.toSorted()).toEqual(["1", "saying"]);
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(["call.invoked", "tool.completed"]));
    expect(result.proof?.policyHash).toBe(await client.policyHash());
  });

  it("calls the version that is named", async () => {
    const client = await open();
    expect(await client.call("say", {}, { version: "~0.9.0" })).toMatchObject({ ok: true, data: "old" });
  });

  it.for<[string, unknown, string]>([
    ["nothing", {}, "TOOL_NOT_FOUND"],
    ["say", { message: 1 }, "INVALID_INPUT"],
    ["never", {}, "POLICY_DENIED"],
    ["breaks", {}, "TOOL_ERROR"],
  ])("gives a failure as a result: %s with %j is %s", async ([tool, input, code]) => {
    const client = await open();
    expect(await client.call(tool, input)).toMatchObject({ ok: false, error: { code } });
  });
}

function streamsContract(open: Open): void {
  it("gives bytes, at once and as a stream", async () => {
    const client = await open();
    expect(await client.call("blob", {})).toMatchObject({ ok: true, data: new Uint8Array([0, 1, 254, 255]) });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const [bytes, result] = await Promise.all([
      new Response(readable as ReadableStream<Uint8Array<ArrayBuffer>>).bytes(),
      client.call("drip", {}, { output: writable }),
    ]);
    expect(result).toMatchObject({ ok: true, data: { byteLength: 6 } });
    expect([...bytes]).toEqual([0, 0, 1, 1, 2, 2]);
  });

  it("sends a body", async () => {
    const client = await open();
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const body = new Blob([new Uint8Array([0, 255])]).stream();
    const [bytes] = await Promise.all([
      new Response(readable as ReadableStream<Uint8Array<ArrayBuffer>>).bytes(),
      client.call("invert", {}, { output: writable, body }),
    ]);
    expect([...bytes]).toEqual([255, 0]);
  });
}

function approvalsContract(open: Open): void {
  it("asks an approver, and takes yes, no and other arguments", async () => {
    const client = await open();
    const asked: unknown[] = [];
    const spend = (...answers: readonly DistributiveOmit<ApprovalAnswer, "approver">[]): Promise<CallResult> => {
      const rest = [...answers];
      const approver: Approver = async (request) => {
        asked.push(request.input);
        return { approver: "ada", ...rest.shift()! };
      };
      return client.call("spend", { amount: 5 }, { approver });
    };
    const allow = { answer: "allow", scope: "once" } as const;
    expect(await spend(allow)).toMatchObject({ ok: true, data: { amount: 5 } });
    expect(await spend({ answer: "deny" })).toMatchObject({ ok: false, error: { code: "APPROVAL_DENIED" } });
    const edited = await spend({ answer: "edit", input: { amount: 4 } }, allow);
    expect(edited).toMatchObject({ ok: true, data: { amount: 4 } });
    expect(asked).toEqual([{ amount: 5 }, { amount: 5 }, { amount: 5 }, { amount: 4 }]);
  });

  it.each([{ answer: "deny" }, { answer: "deny", scope: "once" }])(
    "asks once about a call that is denied by %j",
    async (given) => {
      const client = await open();
      const asked: string[] = [];
      const approver: Approver = ({ callId }) => {
        asked.push(callId);
        return Promise.resolve({ ...given, approver: "ada" } as ApprovalAnswer);
      };
      const ends = await Promise.all([1, 2, 3].map((amount) => client.call("spend", { amount }, { approver })));
      expect(ends).toMatchObject([1, 2, 3].map(() => ({ ok: false, error: { code: "APPROVAL_DENIED" } })));
      expect(asked.toSorted()).toEqual(ends.map(({ callId }) => callId).toSorted());
    },
  );

  it("asks an approver one question at a time", async () => {
    const client = await open();
    let waiting = 0;
    const approver: Approver = async () => {
      expect(++waiting).toBe(1);
      await new Promise((resolve) => setTimeout(resolve));
      waiting--;
      return { answer: "allow", scope: "once", approver: "ada" };
    };
    const ends = await Promise.all([1, 2, 3].map((amount) => client.call("spend", { amount }, { approver })));
    expect(ends.map(({ ok }) => ok)).toEqual([true, true, true]);
  });

  it("keeps an approval for a session, until it is revoked", async () => {
    const client = await open();
    const allow = { answer: "allow", scope: "session", approver: "ada" } as const;
    const sessionId = "spending";
    await client.call("spend", { amount: 1 }, { sessionId, approver: async () => allow });
    const [standing] = await client.approvals.list();
    expect(standing).toMatchObject({ tool: "spend@1.0.0", scope: "session" });
    expect(await client.approvals.revoke(standing!.approvalId, "Over.")).toBe(true);
    expect(await client.approvals.revoke(standing!.approvalId, "Over.")).toBe(false);
    expect(await client.approvals.list()).toEqual([]);
  });
}

function readingContract(open: Open): void {
  it("cancels", async () => {
    const client = await open();
    const controller = new AbortController();
    const options = { signal: controller.signal, onLog: () => controller.abort() };
    expect(await client.call("stays", {}, options)).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  });

  it("does a call with an idempotency key once", async () => {
    const client = await open();
    const once = () => client.call("say", { message: "a" }, { idempotencyKey: 'one, "two"' });
    const first = await once();
    const second = await once();
    expect(first).toMatchObject({ ok: true });
    expect(second).toMatchObject({
      ok: true,
      data: { message: "a" },
      hash: first.ok ? first.hash : "",
      meta: { cached: true },
    });
  });

  it("previews", async () => {
    const client = await open();
    expect(await client.preview("say", { message: "a" })).toMatchObject({ decision: "allow" });
    expect(await client.preview("spend", {})).toMatchObject({ decision: "ask" });
    expect(await client.preview("never", {})).toMatchObject({ decision: "deny", error: { code: "POLICY_DENIED" } });
  });

  it("sets the mode, and back", async () => {
    const client = await open();
    await client.setMode("LOCKDOWN", "a drill");
    expect(await client.call("spend", {})).toMatchObject({ ok: false, error: { code: "POLICY_DENIED" } });
    await client.setMode("NORMAL", "it is over");
    expect((await client.audit.read()).filter(({ type }) => type === "mode.changed")).toHaveLength(2);
  });

  it("reads the mode, the log, and how a tool is", async () => {
    const client = await open();
    await client.call("say", { message: "a" });
    expect(await client.mode()).toBe("NORMAL");
    expect(await client.audit.writable()).toBe(true);
    const events = await client.audit.read(0, 1_000);
    expect(events.map(({ type }) => type)).toContain("tool.completed");
    expect(await client.audit.read(events.length)).toEqual([]);
    expect(await client.health("say")).toEqual({ state: "healthy" });
    await client.close();
  });
}
