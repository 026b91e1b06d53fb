import {
  type Approver,
  type Broker,
  type CapabilityReply,
  IsolateFailure,
  type IsolateHost,
  memorySink,
} from "@keyhole/kernel";
import { kvRead } from "@keyhole/kernel/families";
import { secretKeeper } from "@keyhole/kernel/secrets";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { expectSoundLog } from "../support/kernel.ts";
import {
  asking,
  begin,
  bytesOf,
  openGrants,
  packageOf,
  policy,
  slowFiles,
  suspendingKernel,
  typesOf,
} from "../support/suspension.ts";
import { testEngine } from "../wasm/engine.ts";

const host = async (): Promise<IsolateHost> => interpreterHost({ engine: await testEngine() });
const yes: Approver = async () => ({ answer: "allow", scope: "once", approver: "ada" });
const dayMs = 86_400_000;

describe("time", () => {
  it("stands still for a call that is suspended, and goes on with it", async () => {
    const clock = new FakeClock();
    const first = await suspendingKernel(await host(), { clock });
    const call = await begin(first.kernel, "patient", {}, { bounds: { timeoutMs: 10_000 } });
    await first.files.untilAsked("read a", "read b");
    await clock.advance(9_000);
    const bytes = await bytesOf(first.kernel, call);
    await clock.advance(dayMs);
    const second = await suspendingKernel(await host(), { clock });
    const resumed = second.kernel.resume(bytes);
    await second.files.untilAsked("read a", "read b");
    await clock.advance(999);
    second.files.answer("read a");
    await clock.advance(2);
    expect(await resumed).toMatchObject({ ok: false, error: { code: "TIMEOUT" }, meta: { durationMs: 10_000 } });
  });

  it("that runs out before the turn to start of its isolate has come opens none", async () => {
    const clock = new FakeClock();
    const first = await suspendingKernel(await host(), { clock });
    const call = await begin(first.kernel, "patient", {}, { bounds: { timeoutMs: 10_000 } });
    await first.files.untilAsked("read a", "read b");
    const bytes = await bytesOf(first.kernel, call);
    const [asked, turn, wanted] = [0, 1, 2].map(() => Promise.withResolvers<unknown>());
    const thaw: IsolateHost["thaw"] = async (_tool, _snapshot, isWanted) => {
      asked!.resolve(undefined);
      await turn!.promise;
      wanted!.resolve(isWanted?.());
      throw new IsolateFailure("ISOLATE_LOST", "Nobody waits.");
    };
    const second = await suspendingKernel({ ...(await host()), thaw }, { clock });
    const resumed = second.kernel.resume(bytes);
    await asked!.promise;
    await clock.advance(10_000);
    expect(await resumed).toMatchObject({ ok: false, error: { code: "TIMEOUT" } });
    turn!.resolve(undefined);
    expect(await wanted!.promise).toBe(false);
    await expectSoundLog(second.kernel);
  });

  it("does not answer a question that is suspended", async () => {
    const clock = new FakeClock();
    const { kernel } = await suspendingKernel(await host(), { clock });
    const call = await asking(kernel, "guarded", {});
    const bytes = await bytesOf(kernel, call);
    await clock.advance(3 * dayMs);
    expect(await kernel.resume(bytes, { approver: yes })).toMatchObject({ ok: true, callId: call.callId });
    await expectSoundLog(kernel);
  });
});

describe("a question that goes on", () => {
  it("is another one under another policy", async () => {
    const first = await suspendingKernel(await host());
    const { approvalId, ...call } = await asking(first.kernel, "guarded", { n: 1 });
    const bytes = await bytesOf(first.kernel, call);
    const other = await suspendingKernel(await host(), { policy: { ...policy, grants: [] } });
    const asked: string[] = [];
    const approver: Approver = async (request, signal) => {
      asked.push(request.approvalId);
      return yes(request, signal);
    };
    expect(await other.kernel.resume(bytes, { approver })).toMatchObject({ ok: true });
    expect(asked).toHaveLength(1);
    expect(asked).not.toContain(approvalId);
  });

  it("is not asked where the policy denies by now, or where nobody is there to answer", async () => {
    const first = await suspendingKernel(await host());
    const bytes = await bytesOf(first.kernel, await asking(first.kernel, "guarded", {}));
    const rules = [{ id: "closed", effect: "deny", when: { tool: ["guarded"] }, reason: "Closed.", examples: { match: [{ tool: "guarded" }], notMatch: [{ tool: "echo" }] } }]; // prettier-ignore
    const closed = await suspendingKernel(await host(), { policy: { ...policy, rules } });
    expect(await closed.kernel.resume(bytes, { approver: yes })).toMatchObject({ error: { code: "POLICY_DENIED" } });
    const alone = await suspendingKernel(await host(), { suspension: { claim: () => true } });
    expect(await alone.kernel.resume(bytes)).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
    for (const { kernel } of [closed, alone]) await expectSoundLog(kernel);
  });
});

describe("an idempotency key of a suspended call", () => {
  const key = { idempotencyKey: "once" };

  it("stays taken, and its result is given later", async () => {
    const { kernel, files } = await suspendingKernel(await host());
    const call = await begin(kernel, "patient", {}, key);
    await files.untilAsked("read a", "read b");
    const bytes = await bytesOf(kernel, call);
    const again = { sessionId: "session", ...key };
    expect(await kernel.call("patient", {}, again)).toMatchObject({ ok: false, error: { code: "SUSPENDED" } });
    files.open();
    const result = await kernel.resume(bytes);
    expect(result).toMatchObject({ ok: true, callId: call.callId });
    expect(await kernel.call("patient", {}, again)).toMatchObject({ ok: true, meta: { cached: true } });
    expect(files.asked.filter((each) => each === "write c")).toHaveLength(1);
    await kernel.close();
  });

  it("stays taken over a restart, also where nothing had started", async () => {
    for (const tool of ["patient", "guarded"]) {
      const sink = memorySink();
      const first = await suspendingKernel(await host(), { sink });
      const call =
        tool === "guarded" ? await asking(first.kernel, tool, {}, key) : await begin(first.kernel, tool, {}, key);
      if (tool === "patient") await first.files.untilAsked("read a", "read b");
      const bytes = await bytesOf(first.kernel, call);
      await first.kernel.close();
      const second = await suspendingKernel(await host(), { sink, approver: yes, files: await slowFiles(true) });
      const again = { sessionId: "session", ...key };
      expect(await second.kernel.call(tool, {}, again)).toMatchObject({ ok: false, error: { code: "INVALID_INPUT", details: [{ reason: "outcome-unknown" }] } }); // prettier-ignore
      expect(await second.kernel.resume(bytes)).toMatchObject({ ok: true });
      expect(await second.kernel.call(tool, {}, again)).toMatchObject({ ok: true, meta: { cached: true } });
      await expectSoundLog(second.kernel);
      await second.kernel.close();
    }
  });

  it("that another call used meanwhile, where nobody knew of this one: nothing is done twice", async () => {
    const first = await suspendingKernel(await host());
    const bytes = await bytesOf(first.kernel, await asking(first.kernel, "guarded", {}, key));
    const other = await suspendingKernel(await host(), { approver: yes });
    expect(await other.kernel.call("guarded", {}, { sessionId: "session", ...key })).toMatchObject({ ok: true });
    expect(await other.kernel.resume(bytes)).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    await expectSoundLog(other.kernel);
  });
});

describe("recovery", () => {
  it("takes no suspended call for lost, and one that went on and did not end", async () => {
    const sink = memorySink();
    const first = await suspendingKernel(await host(), { sink });
    const call = await begin(first.kernel, "patient", {});
    await first.files.untilAsked("read a", "read b");
    const bytes = await bytesOf(first.kernel, call);
    const second = await suspendingKernel(await host(), { sink });
    expect(typesOf(await second.events(), call.callId).at(-1)).toBe("tool.suspended");
    void second.kernel.resume(bytes);
    await second.files.untilAsked("read a", "read b");
    // The process dies here.
    const third = await suspendingKernel(await host(), { sink });
    const types = typesOf(await third.events(), call.callId);
    expect(types.slice(types.indexOf("tool.resumed"))).toEqual(["tool.resumed", "capability.checked", "policy.decided", "tool.lost"]); // prettier-ignore
    expect(await third.kernel.resume(bytes)).toMatchObject({ error: { code: "SNAPSHOT_REFUSED" } });
  });
});

describe("calls within a suspended call", () => {
  it("have their end also where their caller does not come to wait for them again", async () => {
    const first = await suspendingKernel(await host());
    const input = { tool: "relaying", input: { tool: "guarded", input: {} } };
    const call = await asking(first.kernel, "relaying", input);
    const bytes = await bytesOf(first.kernel, call);
    // Calls are not granted any more: the outermost does not go on.
    const other = await suspendingKernel(await host(), { policy: { ...policy, grants: openGrants.slice(0, 2) } });
    expect(await other.kernel.resume(bytes, { approver: yes })).toMatchObject({ error: { code: "CAPABILITY_DENIED" } });
    const events = await other.events();
    const ends = events.filter(({ type }) => type === "tool.failed" || type === "tool.blocked").map(({ type }) => type);
    expect(ends.toSorted((a, b) => a.localeCompare(b))).toEqual(["tool.blocked", "tool.failed", "tool.failed"]);
    await expectSoundLog(other.kernel);
  });

  it("end with their caller when whoever resumed it cancels", async () => {
    const first = await suspendingKernel(await host());
    const call = await asking(first.kernel, "relaying", { tool: "guarded", input: {} });
    const bytes = await bytesOf(first.kernel, call);
    const second = await suspendingKernel(await host());
    const controller = new AbortController();
    const approver: Approver = () => {
      controller.abort();
      return new Promise(() => {});
    };
    const result = await second.kernel.resume(bytes, { nestedApprover: approver, signal: controller.signal });
    expect(result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    await expectSoundLog(second.kernel);
  });
});

describe("a secret that a call had told a server before it was suspended", () => {
  const value = "correct horse battery";
  const knocking = packageOf(
    "knocking",
    `const token = context.secret("door");
     const text = async (key) => new TextDecoder().decode(await context.kv.get(key));
     return [await text(token), (await text("echo")).replaceAll(token, "PLACE")];`,
    {
      effects: ["kv.read"],
      capabilities: [
        { kind: "kv.read", keys: ["door"] },
        { kind: "secret.use", names: ["door"], hosts: ["example.com"] },
      ],
    },
  );
  const grants = knocking.manifest.capabilities.map((capability) => ({ tool: "*", capability }));

  /** A server that is told the secret, and gives it back when it is asked for it, at once or never. */
  const serverOf = (gives: boolean, echoed: () => void): Broker => ({
    families: [kvRead],
    needs: () => ({ ok: true, needs: [{ kind: "kv.read", key: "door" }] }),
    async serve({ arguments: { key } }, { secrets }) {
      const found = (text: string): CapabilityReply => ({
        ok: true,
        value: { found: true },
        body: new TextEncoder().encode(text),
      });
      if (key !== "echo") return found((await secrets.reveal(String(key), "example.com")).ok ? "told" : "refused");
      echoed();
      return gives ? found(`It was ${value}.`) : new Promise(() => {});
    },
  });

  it("is still taken out of what the server says", async () => {
    const names: string[] = [];
    const secrets = secretKeeper({ get: (name) => (names.push(name), value) });
    const asked = Promise.withResolvers<void>();
    const options = { tools: [knocking], secrets, policy: { ...policy, grants } };
    const first = await suspendingKernel(await host(), { ...options, brokers: [serverOf(false, asked.resolve)] });
    const call = await begin(first.kernel, "knocking", {});
    await asked.promise;
    const bytes = await bytesOf(first.kernel, call);
    const fresh = secretKeeper({ get: (name) => (names.push(name), value) });
    const second = await suspendingKernel(await host(), {
      ...options,
      secrets: fresh,
      brokers: [serverOf(true, () => {})],
    });
    const result = await second.kernel.resume(bytes);
    expect(result).toMatchObject({ ok: true, data: ["told", "It was PLACE."] });
    // Asked for once in each kernel; what was told is in the journal once.
    expect(names).toEqual(["door", "door"]);
    const events = [...(await first.events()), ...(await second.events())];
    expect(events.filter(({ payload }) => "kind" in payload && payload.kind === "secret.use")).toHaveLength(1);
    expect(JSON.stringify([result, events])).not.toContain(value);
  });
});
