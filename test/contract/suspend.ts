import { type Approver, type CallResult, type Clock, type IsolateHost, memorySink, systemClock } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { expectSoundLog } from "../support/kernel.ts";
import { settled } from "../support/turns.ts";
import { begin, comparable, journalOf, slowFiles, suspendingKernel, typesOf } from "../support/suspension.ts";

const yes: Approver = async () => ({ answer: "allow", scope: "once", approver: "ada" });
/** The clock of the system, on which a wait of `waitMs` ends when the test says so. */
function waitingClock(): {
  readonly clock: Clock;
  readonly waitMs: number;
  /** Gives what ends the wait, when it has begun. */
  readonly wait: Promise<() => void>;
} {
  const waitMs = 54_321;
  const { promise: wait, resolve } = Promise.withResolvers<() => void>();
  const after: Clock["after"] = (delayMs, callback, ...how) => {
    if (delayMs !== waitMs) return systemClock.after(delayMs, callback, ...how);
    resolve(callback);
    return () => undefined;
  };
  return { clock: { ...systemClock, after }, waitMs, wait };
}

const never: Approver = () => new Promise(() => {});

/** Suspended calls go on as if nothing had been, on every host that can put its isolates into bytes. */
export function describeSuspendedCalls(name: string, makeHost: () => Promise<IsolateHost>): void {
  describe(`a suspended call on ${name}`, () => {
    it("that waits for its brokers: same result, fuel and journal as one that was let be, and a proof that follows", async () => {
      const whole = await suspendingKernel(await makeHost(), { files: await slowFiles(true) });
      const expected = await whole.kernel.call("patient", {}, { sessionId: "session" });
      expect(expected).toMatchObject({ ok: true, data: { wrote: "content of acontent of b" } });

      const logs: string[] = [];
      const onLog = ({ message }: { readonly message: string }): void => void logs.push(message);
      const { clock, wait, waitMs } = waitingClock();
      const first = await suspendingKernel(await makeHost(), { clock });
      const { callId, result } = await begin(first.kernel, "patient", {}, { onLog });
      await first.files.untilAsked("read a", "read b");
      const answered = new Promise<void>((resolve) =>
        first.kernel.audit.subscribe(({ type }) => void (type === "capability.used" && resolve())),
      );
      // One is answered while the call is put aside; the other one is given up, and made again: it only reads.
      const suspending = first.kernel.suspend(callId, { waitMs });
      const endWait = await wait;
      first.files.answer("read a");
      await answered;
      await settled();
      endWait();
      const suspension = await suspending;
      if (!suspension.ok) throw new Error(suspension.error.message);
      expect(suspension).toMatchObject({ callId, tool: "patient@1.0.0" });
      expect(await result).toMatchObject({ ok: false, callId, error: { code: "SUSPENDED", retryable: false } });
      expect(typesOf(await first.events(), callId).at(-1)).toBe("tool.suspended");

      const second = await suspendingKernel(await makeHost(), { files: await slowFiles(true) });
      const resumed = await second.kernel.resume(suspension.bytes, { onLog });
      expect(comparable(resumed)).toEqual(comparable(expected));
      expect(resumed.callId).toBe(callId);
      expect(logs).toEqual(["begun", "done"]);
      expect(second.files.asked).toEqual(["read b", "write c", "read c"]);
      const journal = [...(await first.events()), ...(await second.events())];
      expect(journalOf(journal, callId)).toEqual(journalOf(await whole.events(), expected.callId));
      expect(typesOf(await second.events(), callId)).toEqual(["tool.resumed", "capability.checked", "policy.decided", "capability.used", "capability.used", "capability.used", "tool.completed"]); // prettier-ignore
      const proofHash = resumed.proof?.hash;
      const decided = journal.find((event) => event.type === "policy.decided" && event.payload.proofHash === proofHash);
      expect([decided?.callId, typeof resumed.proof?.parentProofId]).toEqual([callId, "string"]);
      for (const { kernel } of [first, second, whole]) await kernel.close();
    });

    it("that waits for a person: the same question goes on, and a yes starts it", async () => {
      const sink = memorySink();
      const first = await suspendingKernel(await makeHost(), { sink });
      const asked = Promise.withResolvers<string>();
      const { callId, result } = await begin(
        first.kernel,
        "guarded",
        { n: 1 },
        {
          approver: ({ approvalId }: { readonly approvalId: string }) => {
            asked.resolve(approvalId);
            return new Promise(() => {});
          },
        },
      );
      const approvalId = await asked.promise;
      const suspension = await first.kernel.suspend(callId);
      if (!suspension.ok) throw new Error(suspension.error.message);
      expect(await result).toMatchObject({ ok: false, error: { code: "SUSPENDED" } });
      await first.kernel.close();

      const second = await suspendingKernel(await makeHost(), { sink });
      const questions: string[] = [];
      const resumed = await second.kernel.resume(suspension.bytes, {
        approver: async (request, signal) => {
          questions.push(request.approvalId);
          return yes(request, signal);
        },
      });
      expect(questions).toEqual([approvalId]);
      expect(resumed).toMatchObject({ ok: true, callId, data: { done: { n: 1 } }, proof: { reasonCode: "approved" } });
      // Nobody took it for lost meanwhile, and it has one end.
      const types = typesOf(await second.events(), callId);
      expect(types.filter((type) => ["tool.lost", "tool.completed"].includes(type))).toEqual(["tool.completed"]);
      await expectSoundLog(second.kernel);
      await second.kernel.close();
    });

    it("that waits for a call of its own, which waits for a person: both go on", async () => {
      const whole = await suspendingKernel(await makeHost(), { approver: yes });
      const input = { tool: "relaying", input: { tool: "guarded", input: { n: 2 } } };
      const expected = await whole.kernel.call("relaying", input, { sessionId: "session" });
      expect(expected).toMatchObject({ ok: true });

      const asking = Promise.withResolvers<void>();
      const first = await suspendingKernel(await makeHost());
      const approver: Approver = (...question) => {
        asking.resolve();
        return never(...question);
      };
      const { callId, result } = await begin(first.kernel, "relaying", input, { nestedApprover: approver });
      await asking.promise;
      const suspension = await first.kernel.suspend(callId);
      if (!suspension.ok) throw new Error(suspension.error.message);
      expect(await result).toMatchObject({ ok: false, error: { code: "SUSPENDED" } });
      const before = await first.events();
      expect(before.filter(({ type }) => type === "tool.suspended")).toHaveLength(3);

      const second = await suspendingKernel(await makeHost());
      const resumed = await second.kernel.resume(suspension.bytes, { nestedApprover: yes });
      const withoutIds = (each: CallResult): unknown =>
        JSON.parse(JSON.stringify(comparable(each)).replaceAll(/"callId":"[^"]*"|"hash":"[^"]*"/g, '"id":""'));
      expect(withoutIds(resumed)).toEqual(withoutIds(expected));
      const after = await second.events();
      const callsOf = (type: string, events: typeof after): ReadonlySet<string | null> =>
        new Set(events.filter((event) => event.type === type).map((event) => event.callId));
      expect(callsOf("tool.completed", after)).toEqual(callsOf("tool.suspended", before));
      for (const { kernel } of [first, second, whole]) await kernel.close();
    });

    it("can be put aside again and again", async () => {
      const whole = await suspendingKernel(await makeHost(), { files: await slowFiles(true) });
      const expected = await whole.kernel.call("patient", {}, { sessionId: "session" });
      const kernels = [whole.kernel];
      const first = await suspendingKernel(await makeHost());
      const { callId } = await begin(first.kernel, "patient", {});
      await first.files.untilAsked("read a", "read b");
      let suspension = await first.kernel.suspend(callId, { waitMs: 0 });
      for (let hop = 0; hop < 3; hop++) {
        if (!suspension.ok) throw new Error(suspension.error.message);
        const next = await suspendingKernel(await makeHost());
        kernels.push(next.kernel);
        const resumed = next.kernel.resume(suspension.bytes);
        await next.files.untilAsked("read a", "read b");
        suspension = await next.kernel.suspend(callId, { waitMs: 0 });
        expect(await resumed).toMatchObject({ callId, error: { code: "SUSPENDED" } });
      }
      if (!suspension.ok) throw new Error(suspension.error.message);
      const last = await suspendingKernel(await makeHost(), { files: await slowFiles(true) });
      expect(comparable(await last.kernel.resume(suspension.bytes))).toEqual(comparable(expected));
      for (const kernel of [...kernels, first.kernel, last.kernel]) await kernel.close();
    });

    it("is refused where a request that does something has no answer, and goes on", async () => {
      const { kernel, files, events } = await suspendingKernel(await makeHost());
      const { callId, result } = await begin(kernel, "careful", {});
      await files.untilAsked("write c");
      expect(await kernel.suspend(callId, { waitMs: 10 })).toMatchObject({
        ok: false,
        error: { code: "REQUEST_IN_FLIGHT", message: "Its request fs.write write has no answer yet." },
      });
      files.open();
      expect(await result).toMatchObject({ ok: true, data: "written" });
      expect(files.asked).toEqual(["write c"]);
      expect(typesOf(await events(), callId)).not.toContain("tool.suspended");
      await expectSoundLog(kernel);
      await kernel.close();
    });
  });
}
