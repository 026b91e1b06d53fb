import { describe, expect, it } from "vitest";
import { FakeClock } from "../support/fake-clock.ts";
import { openPolicy } from "../support/kernel.ts";
import { Desk, pageOf } from "./asking.ts";
import { closeAfterEach, connected, eras, type Era, kernelWith, standardTools, type Way } from "./support.ts";

closeAfterEach();

const lines = eras.flatMap((era) => (["http", "port"] as const).map((way) => [way, era] as const));
const pay = { name: "pay", arguments: { amount: 5 } };
const opensPages = { capabilities: { elicitation: { url: {} } } };

type Action = "accept" | "decline" | "cancel";

async function desk(way: Way, era: Era, onPage: (desk: Desk, approvalId: string) => Promise<Action> | Action) {
  const deeds: string[] = [];
  const approvals = new Desk();
  const clock = new FakeClock();
  const kernel = await kernelWith(standardTools({ deeds }));
  const client = await connected(way, era, kernel, { approvals, client: opensPages, clock });
  const pages: string[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    if (params.mode !== "url") throw new Error("It asked for a form.");
    pages.push(params.url);
    return { action: await onPage(approvals, pageOf(params.url)) };
  });
  return { client, clock, approvals, deeds, pages, kernel };
}

/** The exchange that waits for the person ends, and the client begins the next one. */
async function nextExchange(clock: FakeClock): Promise<void> {
  await expect.poll(() => clock.pendingTimers).toBe(1);
  await clock.advance(25_000);
  await expect.poll(() => clock.pendingTimers).toBe(1);
}

describe.each(lines)("a question, over %s in %s", (way, era) => {
  it("leads the user to a page, and a yes there makes the call once", async () => {
    const { client, deeds, pages } = await desk(way, era, (at, id) => {
      at.answer(id, "allow");
      return "accept";
    });
    expect(await client.callTool(pay)).toMatchObject({
      content: [{ text: "paid 5" }],
      _meta: { "keyhole/decision": "allow" },
    });
    expect(deeds).toEqual(["paid 5"]);
    expect(pages).toHaveLength(1);
  });

  it("whose result waits for its client is not told under another policy", async () => {
    const { client, deeds, kernel } = await desk(way, era, async (at, id) => {
      at.answer(id, "allow");
      await expect.poll(() => deeds).toEqual(["paid 5"]);
      await kernel.setPolicy(openPolicy);
      return "accept" as const;
    });
    expect(await client.callTool(pay)).toMatchObject({
      isError: true,
      _meta: { "keyhole/error": { code: "INVALID_INPUT", message: "The output comes from another policy." } },
    });
  });

  it("that is answered later is waited for, and its page is shown once", async () => {
    const { client, clock, approvals, deeds, pages } = await desk(way, era, () => "accept");
    const asked = approvals.asked;
    const called = client.callTool(pay);
    const { approvalId } = await asked;
    await nextExchange(clock);
    approvals.answer(approvalId, "allow");
    expect(await called).toMatchObject({ content: [{ text: "paid 5" }] });
    expect(deeds).toEqual(["paid 5"]);
    expect(pages).toHaveLength(1);
  });

  it("that is denied on the page ends the call", async () => {
    const { client, deeds } = await desk(way, era, (at, id) => {
      at.answer(id, "deny");
      return "accept";
    });
    expect(await client.callTool(pay)).toMatchObject({
      isError: true,
      _meta: { "keyhole/error": { code: "APPROVAL_DENIED" } },
    });
    expect(deeds).toEqual([]);
  });

  it.each(["decline", "cancel"] as const)("that the client answers with %s is denied and closed", async (action) => {
    const { client, approvals, deeds } = await desk(way, era, () => action);
    expect(await client.callTool(pay)).toMatchObject({
      isError: true,
      _meta: { "keyhole/error": { code: "APPROVAL_DENIED" } },
    });
    expect(approvals.open).toEqual([]);
    expect(deeds).toEqual([]);
  });

  it("is never answered by a client that accepts everything", async () => {
    const { client, clock, approvals, deeds } = await desk(way, era, () => "accept");
    const gone = new AbortController();
    const asked = approvals.asked;
    const called = client.callTool(pay, { signal: gone.signal });
    const { approvalId } = await asked;
    await nextExchange(clock);
    expect(deeds).toEqual([]);
    expect(approvals.open).toEqual([approvalId]);
    gone.abort();
    await expect(called).rejects.toThrow(/abort/i);
  });

  it("about edited arguments has a page of its own", async () => {
    const { client, deeds, pages } = await desk(way, era, (at, id) => {
      at.answer(id, at.questions.length === 1 ? { edit: { amount: 3 } } : "allow");
      return "accept";
    });
    expect(await client.callTool(pay)).toMatchObject({ content: [{ text: "paid 3" }] });
    expect(deeds).toEqual(["paid 3"]);
    expect(new Set(pages).size).toBe(2);
  });

  it("of a client that opens no pages is waited for", async () => {
    const deeds: string[] = [];
    const approvals = new Desk();
    const client = await connected(way, era, await kernelWith(standardTools({ deeds })), { approvals });
    const asked = approvals.asked;
    const called = client.callTool(pay);
    approvals.answer((await asked).approvalId, "allow");
    expect(await called).toMatchObject({ content: [{ text: "paid 5" }] });
  });

  describe("of a client that opens no pages, and that nobody answers in time", () => {
    const opened = async () => {
      const deeds: string[] = [];
      const approvals = new Desk();
      const clock = new FakeClock();
      const kernel = await kernelWith(standardTools({ deeds }));
      const client = await connected(way, era, kernel, { approvals, clock });
      const asked = approvals.asked;
      const called = client.callTool(pay);
      const { approvalId } = await asked;
      await expect.poll(() => clock.pendingTimers).toBe(1);
      await clock.advance(25_000);
      return { deeds, approvals, client, clock, approvalId, first: await called };
    };

    it("is an error with the address, and the next equal call takes the answer", async () => {
      const { deeds, approvals, client, approvalId, first } = await opened();
      expect(first).toMatchObject({
        isError: true,
        _meta: { "keyhole/error": { code: "APPROVAL_EXPIRED", retryable: true } },
      });
      expect(JSON.stringify(first.content)).toContain(`https://approvals.example/${approvalId}`);
      approvals.answer(approvalId, "allow");
      await expect.poll(() => deeds).toEqual(["paid 5"]);
      expect(await client.callTool(pay)).toMatchObject({ content: [{ text: "paid 5" }] });
      expect(deeds).toEqual(["paid 5"]);
      expect(approvals.questions).toHaveLength(1);
    });

    it("is waited for again by the next equal call, and asked anew by one behind the answer", async () => {
      const { deeds, approvals, client, clock, approvalId } = await opened();
      const again = client.callTool(pay);
      await expect.poll(() => clock.pendingTimers).toBe(1);
      approvals.answer(approvalId, "deny");
      expect(await again).toMatchObject({ _meta: { "keyhole/error": { code: "APPROVAL_DENIED" } } });
      const asked = approvals.asked;
      const third = client.callTool(pay);
      approvals.answer((await asked).approvalId, "allow");
      expect(await third).toMatchObject({ content: [{ text: "paid 5" }] });
      expect([deeds, approvals.questions.length]).toEqual([["paid 5"], 2]);
    });

    it("does not answer a call with other arguments", async () => {
      const { deeds, approvals, client, approvalId } = await opened();
      approvals.answer(approvalId, "allow");
      const asked = approvals.asked;
      const other = client.callTool({ name: "pay", arguments: { amount: 6 } });
      approvals.answer((await asked).approvalId, "deny");
      expect(await other).toMatchObject({ _meta: { "keyhole/error": { code: "APPROVAL_DENIED" } } });
      expect(deeds).toEqual(["paid 5"]);
    });
  });

  it("goes to the kernel's own approver where the server has none", async () => {
    const deeds: string[] = [];
    const approver = async () => ({ answer: "allow", scope: "once", approver: "ada" }) as const;
    const client = await connected(way, era, await kernelWith(standardTools({ deeds }), { approver }), {
      client: opensPages,
    });
    expect(await client.callTool(pay)).toMatchObject({ content: [{ text: "paid 5" }] });
  });
});
