import type { ApprovalAnswer, AuditEvent, CallResult, JsonValue, ToolSummary } from "@keyhole/kernel";
import { readEvidence, verifyProof } from "@keyhole/kernel/policy";
import * as indexedDb from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ClientCall, KernelClient } from "../../packages/playground/src/client/kernel-client.ts";
import { evidenceText } from "../../packages/playground/src/log/export-calls.ts";
import { openKernel, toolOf } from "../support/kernel.ts";
import { Browser, ended } from "./session-parts.ts";

beforeEach(() => {
  for (const [name, value] of Object.entries(indexedDb)) if (name.startsWith("IDB")) vi.stubGlobal(name, value);
  vi.stubGlobal("indexedDB", new indexedDb.IDBFactory());
});

afterEach(() => vi.unstubAllGlobals());

const policy = {
  version: "1",
  posture: "standard",
  rules: [{ id: "large", effect: "ask", reason: "Large.", when: { arguments: [{ at: "/amount", moreThan: 100 }] } }],
};
const input = {
  type: "object",
  required: ["amount"],
  properties: { amount: { type: "number" }, to: { type: "string", default: "ada" } },
  additionalProperties: false,
} as const;

/**
 * The page over a kernel, as the browser's client is.
 *
 * @param elsewhere The answer of another approver, who is always first.
 */
async function page(elsewhere?: ApprovalAnswer) {
  const bench = await openKernel({ policy });
  const registered = bench.kernel.registerTrusted(toolOf(() => "done", { input }));
  if (!registered.ok) throw new Error(registered.error.message);
  const tool: ToolSummary = registered.value;
  const governed = { policy, policyHash: bench.kernel.policyHash, mode: bench.kernel.mode };
  const client: KernelClient = {
    place: "browser",
    tools: [tool],
    started: Promise.resolve({ tools: [tool], warning: undefined }),
    call: async ({ tool: name, input: sent, onEvent, approve }: ClientCall) => {
      const result: CallResult = await bench.kernel.call(name, sent, {
        caller: "playground",
        sessionId: "s",
        onEvent,
        approver: async (request, signal) => {
          const here = approve(request, signal);
          return elsewhere ?? here;
        },
      });
      return { result };
    },
    governance: { read: async () => governed, approvals: { list: async () => [], revoke: async () => {} } },
    close: () => {},
  };
  const { store, calls } = new Browser().tab("a");
  const call = async (sent: JsonValue, approve: ClientCall["approve"]) => {
    const id = calls.start(client, { tool, input: sent, body: undefined, sessionId: "s", approve });
    await ended(calls, id);
    await store.settled();
    const run = await store.read(id);
    if (run?.phase !== "done") throw new Error("The call has no end.");
    const text = await evidenceText(run, client.governance);
    const file = JSON.parse(text ?? "null") as Record<string, JsonValue>;
    const read = readEvidence(file);
    const report = read.ok ? await verifyProof(read.value.proof, read.value.evidence) : undefined;
    return { run, file, report, head: store.head(id) };
  };
  return { ...bench, call };
}

const allow: ApprovalAnswer = { answer: "allow", scope: "once", approver: "ada" };
const deny: ApprovalAnswer = { answer: "deny", approver: "ada" };
const edit = (edited: unknown): ApprovalAnswer => ({ answer: "edit", input: edited, approver: "ada" });

describe("the evidence of a call that had to be approved", () => {
  it.each([allow, deny])(
    "has the proof of the question where another call's event lies between: %j",
    async (answer) => {
      const { kernel, call } = await page();
      const { file, report } = await call({ amount: 101 }, async () => {
        await kernel.call("subject", { amount: 1 }, { caller: "eve" });
        return answer;
      });
      expect(file).not.toHaveProperty("events");
      expect(file["parent"]).toMatchObject({ decision: "ask" });
      expect(report).toMatchObject({ verdict: "unvouched" });
      expect(report?.steps.find(({ name }) => name === "re-evaluation")).toMatchObject({ outcome: "unvouched" });
    },
  );

  it("has the events alone where nothing lies between", async () => {
    const { call } = await page();
    const { file, report } = await call({ amount: 101 }, async () => allow);
    expect((file["events"] as unknown as AuditEvent[]).length).toBeGreaterThan(4);
    expect(file).not.toHaveProperty("parent");
    expect(report).toMatchObject({ verdict: "unvouched" });
  });
});

describe("a call whose arguments an approver edited", () => {
  it.each([
    ["and allowed", { amount: 102, to: "eve" }, [{ amount: 102, to: "eve" }, "102 to eve"]],
    ["into what needs no question", { amount: 7 }, [{ amount: 7 }, "7"]],
    ["back into what was sent", { amount: 101 }, [{ amount: 101 }, "101"]],
  ] as const)("has the ones that ran, in the list and the evidence: %s", async (_, edited, [shown, what]) => {
    const { call } = await page();
    const answers = [edit({ amount: 150 }), edit(edited), allow];
    const { run, head, report } = await call({ amount: 101 }, async () => answers.shift()!);
    expect(run).toMatchObject({ result: { ok: true }, input: shown });
    expect(head).toMatchObject({ what });
    expect(report).toMatchObject({ verdict: "unvouched" });
  });

  it("has the last ones where the kernel refuses them", async () => {
    const { call } = await page();
    const { run, file } = await call({ amount: 101 }, async () => edit({ amount: "much" }));
    expect(run).toMatchObject({ result: { ok: false, error: { code: "INVALID_INPUT" } }, input: { amount: "much" } });
    expect(file).toBeNull();
  });

  it("has none where an approver elsewhere wrote them, and says so", async () => {
    const { call } = await page(edit({ amount: 7 }));
    const { run, head, file, report } = await call({ amount: 101 }, () => new Promise(() => {}));
    expect(run).toMatchObject({ result: { ok: true }, input: null });
    expect(head?.what).toContain("an approver elsewhere");
    expect(file).not.toHaveProperty("input");
    expect(report).toMatchObject({ verdict: "unvouched" });
  });
});
