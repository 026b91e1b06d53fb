import { type Broker, type CallResult, createKernel, type IsolateHost, type Kernel } from "@keyhole/kernel";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { expectSoundLog, toolOf } from "../support/kernel.ts";
import { begin, packageOf, patient, policy, slowFiles, suspendingKernel } from "../support/suspension.ts";
import { testEngine } from "../wasm/engine.ts";

const host = async (): Promise<IsolateHost> => interpreterHost({ engine: await testEngine() });

async function bytesOf(kernel: Kernel, callId: string, waitMs = 0): Promise<Uint8Array<ArrayBuffer>> {
  const suspension = await kernel.suspend(callId, { waitMs });
  if (!suspension.ok) throw new Error(`${suspension.error.code}: ${suspension.error.message}`);
  return suspension.bytes;
}

const asksForPatient = [{ id: "asks", effect: "ask", when: { tool: ["twice"] }, reason: "Ask.", examples: { match: [{ tool: "twice" }], notMatch: [{ tool: "echo" }] } }]; // prettier-ignore

/** Does something, then waits. */
const twice = packageOf(
  "twice",
  `await context.files.write("c", new TextEncoder().encode("once")); await context.files.read("a"); return "done";`,
  { effects: ["fs.read", "fs.write"], capabilities: patient.manifest.capabilities },
);

it("what had begun does not begin again, where it is to be suspended while somebody is asked whether it may go on", async () => {
  const first = await suspendingKernel(await host(), { tools: [twice] });
  const { callId } = await begin(first.kernel, "twice", {});
  await first.files.untilAsked("write c");
  first.files.answer("write c");
  await first.files.untilAsked("read a");
  const bytes = await bytesOf(first.kernel, callId);

  const next = await suspendingKernel(await host(), { tools: [twice], policy: { ...policy, rules: asksForPatient } });
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<never>();
  const resumed = next.kernel.resume(bytes, {
    approver: () => {
      asked.resolve();
      return answer.promise;
    },
  });
  await asked.promise;
  const again = await next.kernel.suspend(callId, { waitMs: 0 });
  if (again.ok) {
    const last = await suspendingKernel(await host(), { tools: [twice], files: await slowFiles(true) });
    await last.kernel.resume(again.bytes);
    expect(last.files.asked).toEqual(["read a"]);
  }
  expect(again).toMatchObject({ ok: false, error: { code: "NOT_WAITING" } });
  answer.resolve({ answer: "allow", scope: "once", approver: "ada" } as never);
  next.files.open();
  expect(await resumed).toMatchObject({ ok: true, data: "done" });
  expect(next.files.asked).toEqual(["read a"]);
  await expectSoundLog(next.kernel);
});

it("a session keeps its labels: what its tool knows by now is as secret as before", async () => {
  const rules = [{ id: "leak", effect: "deny", when: { tool: ["outward"], labels: ["secret"] }, reason: "It stays here.", examples: { match: [{ tool: "outward", labels: ["secret"] }], notMatch: [{ tool: "outward" }] } }]; // prettier-ignore
  const labelled = { ...policy, rules, labels: { secret: { tools: ["inward"] } } };
  const courier = packageOf(
    "courier",
    `const known = await context.tools.call("inward", {});
     await context.files.read("a");
     return context.tools.call("outward", { known });`,
    {
      effects: ["fs.read"],
      capabilities: [
        { kind: "fs.read", paths: ["**"] },
        { kind: "tool.call", tools: ["*"] },
      ],
    },
  );
  const tools = [courier, packageOf("inward", `return "the secret";`, {}), packageOf("outward", `return input;`, {})];
  const first = await suspendingKernel(await host(), { tools, policy: labelled });
  const { callId } = await begin(first.kernel, "courier", {});
  await first.files.untilAsked("read a");
  const bytes = await bytesOf(first.kernel, callId);
  const next = await suspendingKernel(await host(), { tools, policy: labelled, files: await slowFiles(true) });
  expect(await next.kernel.resume(bytes)).toMatchObject({
    ok: true,
    data: { ok: false, error: { code: "POLICY_DENIED" } },
  });
});

it("an answer whose bytes are a Buffer comes back as bytes", async () => {
  const files = await slowFiles();
  const buffers: Broker = {
    ...files,
    families: files.families,
    async serve(request, session) {
      const reply = await files.serve(request, session);
      return reply.ok && reply.body ? { ...reply, body: Buffer.from(reply.body) } : reply;
    },
  };
  const first = await suspendingKernel(await host(), { files: buffers as typeof files });
  const { callId } = await begin(first.kernel, "patient", {});
  await files.untilAsked("read a", "read b");
  files.answer("read a", "read b");
  const bytes = await bytesOf(first.kernel, callId, 60_000);
  const next = await suspendingKernel(await host(), { files: await slowFiles(true) });
  const result: CallResult = await next.kernel.resume(bytes);
  expect(result).toMatchObject({ ok: true, data: { read: ["content of a", "content of b"] } });
});

it("a claim that fails takes nothing: the snapshot is as good as before", async () => {
  const first = await suspendingKernel(await host());
  const { callId } = await begin(first.kernel, "patient", {});
  await first.files.untilAsked("read a", "read b");
  const bytes = await bytesOf(first.kernel, callId);
  let isDown = true;
  const claim = async (): Promise<boolean> => {
    if (isDown) throw new Error("The store is down.");
    return true;
  };
  const next = await suspendingKernel(await host(), { files: await slowFiles(true), suspension: { claim } });
  await expect(next.kernel.resume(bytes)).rejects.toThrow("The store is down.");
  isDown = false;
  expect(await next.kernel.resume(bytes)).toMatchObject({ ok: true });
  await expectSoundLog(next.kernel);
});

describe("a call that cannot be suspended", () => {
  it("names the reason, and continues", async () => {
    const { kernel, files } = await suspendingKernel(await host());
    expect(await kernel.suspend("nobody")).toMatchObject({ ok: false, error: { code: "CALL_NOT_FOUND" } });
    const inline = toolOf(() => new Promise(() => {}), { name: "inline" });
    kernel.registerTrusted(inline);
    const controller = new AbortController();
    const spinning = await begin(kernel, "inline", {}, { signal: controller.signal });
    expect(await kernel.suspend(spinning.callId, { waitMs: 10 })).toMatchObject({
      ok: false,
      error: { code: "UNSUPPORTED_HOST" },
    });
    controller.abort();
    expect(await spinning.result).toMatchObject({ error: { code: "CANCELLED" } });

    const inner = await begin(kernel, "relaying", { tool: "patient", input: {} });
    await files.untilAsked("read a", "read b");
    const child = (await kernel.audit.read()).find(({ type, payload }) => type === "call.invoked" && "parentCallId" in payload && payload.parentCallId === inner.callId)!; // prettier-ignore
    expect(await kernel.suspend(child.callId!)).toMatchObject({ ok: false, error: { code: "NOT_OUTERMOST" } });
    files.open();
    expect(await inner.result).toMatchObject({ ok: true });
    expect(await kernel.suspend(inner.callId)).toMatchObject({ ok: false, error: { code: "CALL_NOT_FOUND" } });
    await expectSoundLog(kernel);
  });

  it("may be one of two in the same isolate, and continues", async () => {
    const { kernel, files } = await suspendingKernel(await host());
    const calls = [await begin(kernel, "patient", {}), await begin(kernel, "patient", {})];
    await files.untilAsked("read a", "read b");
    expect(await kernel.suspend(calls[0]!.callId, { waitMs: 0 })).toMatchObject({
      ok: false,
      error: { code: "NOT_WAITING" },
    });
    files.open();
    for (const { result } of calls) expect(await result).toMatchObject({ ok: true });
  });

  it("is refused by a kernel without a suspender, and so is a snapshot", async () => {
    const kernel = await createKernel();
    const [code, what] = ["SUSPENSION_UNAVAILABLE", expect.stringContaining("callSuspender") as string];
    expect(await kernel.suspend("x")).toMatchObject({ ok: false, error: { code, hint: what } });
    expect(await kernel.resume(new Uint8Array(8))).toMatchObject({ ok: false, error: { code, operatorHint: what } });
  });

  it("makes a kernel with a key of another length throw", async () => {
    for (const length of [0, 31, 33])
      await expect(suspendingKernel(await host(), { suspension: { key: new Uint8Array(length) } })).rejects.toThrow(
        "32 bytes",
      );
  });
});
