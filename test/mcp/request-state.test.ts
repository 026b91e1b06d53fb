import { describe, expect, it } from "vitest";
import { RequestStates } from "../../packages/mcp/src/server/request-state.ts";
import { Seal } from "../../packages/mcp/src/server/seal.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { Desk } from "./asking.ts";
import { type Raw, send } from "./raw.ts";
import { closeAfterEach, handlerOf, kernelWith, standardTools } from "./support.ts";

closeAfterEach();

const key = new Uint8Array(32).fill(1);
const state = { tool: "pay", args: `blake3:${"0".repeat(64)}`, callId: "call", approvalId: "approval" };
const ada = { caller: "ada", tenant: "one" };
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \0é";

describe("a state that a client carries", () => {
  const clock = new FakeClock();
  const states = new RequestStates(new Seal(key), clock);
  const sealed = states.write(state, ada);

  it("comes back as it was, to its own caller", () => {
    expect(states.read(sealed, ada)).toMatchObject(state);
  });

  it("is refused with any character altered to any other, left out, doubled or added", () => {
    const taken: string[] = [];
    const attempt = (text: string): unknown => text !== sealed && states.read(text, ada) && taken.push(text);
    for (let at = 0; at <= sealed.length; at++) {
      for (const other of alphabet) {
        attempt(sealed.slice(0, at) + other + sealed.slice(at + 1));
        attempt(sealed.slice(0, at) + other + sealed.slice(at));
      }
      attempt(sealed.slice(0, at) + sealed.slice(at + 1));
    }
    expect(taken).toEqual([]);
  });

  it.each(["", ".", "..", "a.b.c", "\u0000", `${"A".repeat(100_000)}.A`])("is refused as %j", (text) => {
    expect(states.read(text.slice(0, 100_000), ada)).toBeUndefined();
  });

  it.each([
    ["another caller", { ...ada, caller: "bob" }],
    ["another tenant", { ...ada, tenant: "two" }],
    ["no tenant", { caller: "ada" }],
    ["names that are joined otherwise", { caller: "adaone", tenant: "" }],
  ])("is refused from %s", (_, caller) => {
    expect(states.read(sealed, caller)).toBeUndefined();
  });

  it("is refused under another key", () => {
    expect(new RequestStates(new Seal(new Uint8Array(32).fill(2)), clock).read(sealed, ada)).toBeUndefined();
    expect(() => new Seal(new Uint8Array(31))).toThrow("A key has 32 bytes; got 31.");
  });

  it("is good for ten minutes, and not a millisecond longer", () => {
    const later = new FakeClock();
    const own = new RequestStates(new Seal(key), later);
    const text = own.write(state, ada);
    later.jump(599_999);
    expect(own.read(text, ada)).toMatchObject(state);
    later.jump(1);
    expect(own.read(text, ada)).toBeUndefined();
  });

  it("is used once, and stays used when its caller or others use many", () => {
    const later = new FakeClock();
    const own = new RequestStates(new Seal(key), later, 8);
    const used = (caller: typeof ada, text = own.write(state, caller)) => own.use(own.read(text, caller)!, caller);
    const first = own.write(state, ada);
    expect([used(ada, first), used(ada, first)]).toEqual([true, false]);
    const bob = { ...ada, caller: "bob" };
    expect(Array.from({ length: 6 }, () => used(ada))).toEqual([true, true, true, false, false, false]);
    expect(Array.from({ length: 3 }, () => used(bob))).toEqual([true, true, false]);
    expect(used(ada, first)).toBe(false);
    later.jump(600_000);
    expect(used(ada)).toBe(true);
  });

  it("gets no more time from a clock that jumps back", () => {
    const back = new FakeClock();
    const own = new RequestStates(new Seal(key), back);
    back.jump(3_600_000);
    const text = own.write(state, ada);
    back.jump(-1);
    expect(own.read(text, ada)).toBeUndefined();
    back.jump(1);
    expect(own.read(text, ada)).toMatchObject(state);
  });
});

describe("a state over the wire", () => {
  const capabilities = { elicitation: { url: {} } };
  const call = (name: string, amount: number, more: object = {}): Raw => ({
    method: "tools/call",
    params: { name, arguments: { amount }, ...more },
    capabilities,
  });
  const refused = { error: { code: -32_602, data: { reason: "invalid_request_state" } } };

  async function asked() {
    const deeds: string[] = [];
    const approvals = new Desk();
    const clock = new FakeClock();
    const kernel = await kernelWith(standardTools({ deeds }));
    const stateKey = key;
    const handler = handlerOf(kernel, { approvals, clock, stateKey });
    const first = await send(handler, call("pay", 5));
    expect(first.result).toMatchObject({ resultType: "input_required", inputRequests: { approval: {} } });
    const { requestState } = first.result as { readonly requestState: string };
    return { handler, kernel, approvals, clock, deeds, requestState };
  }

  it.each([
    ["moved to other arguments", "pay", 6],
    ["moved to another tool", "refund", 5],
  ])("is refused when it is %s, also after a yes", async (_, name, amount) => {
    const { handler, approvals, deeds, requestState } = await asked();
    approvals.answer(approvals.open[0] ?? "", "allow");
    expect(await send(handler, call(name, amount, { requestState }))).toMatchObject(refused);
    expect(deeds.filter((deed) => deed !== "paid 5")).toEqual([]);
  });

  it("is refused from another caller and another tenant that share the key", async () => {
    const { kernel, approvals, requestState } = await asked();
    for (const caller of [{ caller: "other" }, { caller: "desk", tenant: "two" }]) {
      const handler = handlerOf(kernel, { approvals, stateKey: key, authenticate: () => caller });
      expect(await send(handler, call("pay", 5, { requestState }))).toMatchObject(refused);
    }
  });

  it("is fetched once: of exchanges that wait at the same time one has the result", async () => {
    const { handler, approvals, deeds, requestState } = await asked();
    const waiting = Array.from({ length: 5 }, () => send(handler, call("pay", 5, { requestState })));
    approvals.answer(approvals.open[0] ?? "", "allow");
    const answers = await Promise.all(waiting);
    expect(answers.filter(({ result }) => result !== undefined)).toHaveLength(1);
    expect(answers.filter(({ error }) => error !== undefined)).toHaveLength(4);
    expect(answers.find(({ error }) => error !== undefined)).toMatchObject(refused);
    expect(deeds).toEqual(["paid 5"]);
  });

  it("is refused in another process, where no call waits", async () => {
    const { kernel, approvals, requestState } = await asked();
    const handler = handlerOf(kernel, { approvals, stateKey: key });
    expect(await send(handler, call("pay", 5, { requestState }))).toMatchObject(refused);
  });

  it("is refused when it is too old", async () => {
    const { handler, clock, requestState } = await asked();
    clock.jump(600_000);
    expect(await send(handler, call("pay", 5, { requestState }))).toMatchObject(refused);
  });

  it("is refused with each of its characters altered", async () => {
    const { handler, requestState, deeds } = await asked();
    for (let at = 0; at < requestState.length; at++) {
      const other = requestState[at] === "A" ? "B" : "A";
      const altered = requestState.slice(0, at) + other + requestState.slice(at + 1);
      expect(await send(handler, call("pay", 5, { requestState: altered })), `character ${at}`).toMatchObject(refused);
    }
    expect(deeds).toEqual([]);
  });

  it.each([1, null, {}, ["a"]])("is refused as %j", async (requestState) => {
    const { handler, deeds } = await asked();
    expect(await send(handler, call("pay", 5, { requestState }))).toMatchObject({ error: { code: -32_602 } });
    expect(deeds).toEqual([]);
  });

  it("fetches a result once: one yes is one deed, and a replay gets nothing", async () => {
    const { handler, approvals, deeds, requestState } = await asked();
    approvals.answer(approvals.open[0] ?? "", "allow");
    expect(await send(handler, call("pay", 5, { requestState }))).toMatchObject({
      result: { content: [{ text: "paid 5" }] },
    });
    expect(await send(handler, call("pay", 5, { requestState }))).toMatchObject(refused);
    expect(deeds).toEqual(["paid 5"]);
  });

  it("does not make an accept of the client a yes", async () => {
    const { handler, approvals, clock, deeds, requestState } = await asked();
    const inputResponses = { approval: { action: "accept", content: { approved: true } } };
    const waiting = send(handler, call("pay", 5, { requestState, inputResponses }));
    await expect.poll(() => clock.pendingTimers).toBe(1);
    await clock.advance(25_000);
    expect(await waiting).toMatchObject({ result: { resultType: "input_required" } });
    expect([approvals.open.length, deeds.length]).toEqual([1, 0]);
  });
});
