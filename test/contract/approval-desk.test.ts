import { type ApprovalAnswer, type ApprovalRequest, createKernel } from "@keyhole/kernel";
import { ApprovalDesk } from "@keyhole/worker-host/approval-desk";
import { expect, it } from "vitest";
import { echo } from "../support/kernel.ts";

const allow: ApprovalAnswer = { answer: "allow", scope: "once", approver: "ada" };
const question = (approvalId: string) => ({ approvalId, caller: "agent" }) as ApprovalRequest;

it("keeps questions in their order, and takes one answer to each", async () => {
  const desk = new ApprovalDesk();
  const { signal } = new AbortController();
  const answers = [desk.approver(question("a"), signal), desk.approver(question("b"), signal)];
  expect(desk.list()).toEqual([question("a"), question("b")]);
  expect(["b", "b", "c"].map((id) => desk.answer(id, allow))).toEqual([true, false, false]);
  expect(desk.list()).toEqual([question("a")]);
  desk.answer("a", { answer: "deny", approver: "bob" });
  expect(await Promise.all(answers)).toEqual([{ answer: "deny", approver: "bob" }, allow]);
});

it("tells the questions of an agent's client from others", () => {
  const desk = new ApprovalDesk();
  const { signal } = new AbortController();
  void desk.approver(question("a"), signal);
  void desk.approverApart(question("b"), signal);
  expect(["a", "b", "c"].map((id) => desk.find(id)?.isApart)).toEqual([false, true, undefined]);
});

it("denies what is withdrawn, before or after it was asked", async () => {
  const desk = new ApprovalDesk();
  const close = new AbortController();
  const asked = desk.approver(question("a"), close.signal);
  close.abort();
  const answers = await Promise.all([asked, desk.approver(question("b"), close.signal)]);
  expect(answers).toMatchObject([{ answer: "deny" }, { answer: "deny" }]);
  expect([desk.list(), desk.answer("a", allow)]).toEqual([[], false]);
});

it("has no question any more after the mode went on", async () => {
  const desk = new ApprovalDesk();
  const rules = [{ id: "ask", effect: "ask", when: {}, reason: "Asks." }] as const;
  const kernel = await createKernel({ policy: { version: "1", posture: "standard", rules }, approver: desk.approver });
  kernel.registerTrusted(echo);
  const call = kernel.call("echo", { message: "hello" });
  await expect.poll(() => desk.list()).toHaveLength(1);
  const [{ approvalId } = question("")] = desk.list();
  await kernel.setMode("LOCKDOWN", "a drill");
  expect(await call).toMatchObject({ ok: false });
  expect([desk.list(), desk.answer(approvalId, allow)]).toEqual([[], false]);
});
