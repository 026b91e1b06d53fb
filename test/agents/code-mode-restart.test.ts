import { aiSdkTools } from "@keyhole/agents/ai-sdk";
import { codeMode } from "@keyhole/agents/code-mode";
import type { Approver } from "@keyhole/kernel";
import { runCode } from "@keyhole/worker-host/tools";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { expect, it } from "vitest";
import { expectSoundLog } from "../support/kernel.ts";
import { asking, bytesOf, guarded, packageOf, suspendingKernel } from "../support/suspension.ts";
import { testEngine } from "../wasm/engine.ts";

const count = packageOf("count", "return { counted: input.at };", {});
const tools = [runCode, count, guarded];
const code = `
  const before = await tools.count({ at: 1 });
  const asked = await tools.guarded({ pays: 5 });
  const after = await tools.count({ at: 2 });
  return [before, asked, after];`;
const invoked = (events: readonly { readonly type: string; readonly payload: object }[]): readonly unknown[] =>
  events.flatMap(({ type, payload }) => (type === "call.invoked" ? [Reflect.get(payload, "tool")] : []));

it("a program that waits for a person goes on in another process, where it was, with each call made once", async () => {
  const first = await suspendingKernel(interpreterHost({ engine: await testEngine() }), { tools });
  // The agent's program is a call like any other: this is what an adapter makes of it.
  expect(Object.keys((await aiSdkTools(codeMode(first.kernel))).tools)).toContain("run_code");
  const call = await asking(first.kernel, "run_code", { code });
  const bytes = await bytesOf(first.kernel, call);
  expect(invoked(await first.events())).toEqual(["run_code@1.0.0", "count@1.0.0", "guarded@1.0.0"]);

  const second = await suspendingKernel(interpreterHost({ engine: await testEngine() }), { tools });
  const asked: string[] = [];
  const nestedApprover: Approver = async ({ tool, input }) => {
    asked.push(`${tool} ${JSON.stringify(input)}`);
    return { answer: "allow", scope: "once", approver: "ada" };
  };
  const result = await second.kernel.resume(bytes, { nestedApprover });
  expect(result).toMatchObject({
    ok: true,
    data: { result: [{ counted: 1 }, { done: { pays: 5 } }, { counted: 2 }] },
  });
  expect(asked).toEqual(['guarded@1.0.0 {"pays":5}']);
  expect(invoked(await second.events())).toEqual(["count@1.0.0"]);
  await expectSoundLog(second.kernel);
});

it("a program whose person says no in the other process reads the refusal, and goes on", async () => {
  const first = await suspendingKernel(interpreterHost({ engine: await testEngine() }), { tools });
  const caught = `try { await tools.guarded({}); } catch ({ code }) { return [code, await tools.count({ at: 3 })]; }`;
  const bytes = await bytesOf(first.kernel, await asking(first.kernel, "run_code", { code: caught }));
  const second = await suspendingKernel(interpreterHost({ engine: await testEngine() }), { tools });
  const nestedApprover: Approver = async () => ({ answer: "deny", approver: "ada", reason: "Not today." });
  expect(await second.kernel.resume(bytes, { nestedApprover })).toMatchObject({
    data: { result: ["APPROVAL_DENIED", { counted: 3 }] },
  });
});
