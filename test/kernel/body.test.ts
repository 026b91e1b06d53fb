import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Approver,
  type CallOptions,
  checkPackage,
  hashBytes,
  limits,
  manifestOf,
  type ToolContext,
} from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { describe, expect, it } from "vitest";
import { obligationFault } from "../../packages/kernel/src/policy/review/check-obligations.ts";
import { settle } from "../support/fake-clock.ts";
import { expectSoundLog, granting, openKernel, toolOf } from "../support/kernel.ts";
import { calling, openCalling } from "../support/nested.ts";
import { bodySource } from "../support/streams.ts";

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

/** Reads its body to the end and returns it as numbers. */
async function numbers(_: unknown, { body }: Pick<ToolContext, "body">): Promise<number[]> {
  const all: number[] = [];
  for await (const piece of body) all.push(...piece);
  return all;
}

const reading = (more: Record<string, unknown> = {}, execute = numbers): ReturnType<typeof toolOf> =>
  toolOf(execute, { body: {}, ...more });

async function called(body: CallOptions["body"] | undefined, options: CallOptions = {}, more = {}) {
  const { kernel, events } = await openKernel();
  expect(kernel.registerTrusted(reading(more))).toMatchObject({ ok: true });
  const result = await kernel.call("subject", {}, { ...options, ...(body && { body }) });
  await settle();
  await expectSoundLog(kernel);
  const read = (await events()).find(({ type }) => type === "body.read");
  return { result, read: read?.payload };
}

describe("a body", () => {
  it("is read by the tool, and on record before the end of its call", async () => {
    const { kernel, events } = await openKernel();
    kernel.registerTrusted(reading());
    const { body, ends } = bodySource([bytes(1, 2), bytes(), bytes(3)]);
    const result = await kernel.call("subject", {}, { body });
    expect(result).toMatchObject({ ok: true, data: [1, 2, 3], proof: { obligations: ["body"] } });
    expect((await events()).slice(-2)).toMatchObject([
      { type: "body.read", payload: { bodyHash: hashBytes(bytes(1, 2, 3)), bodyBytes: 3, whole: true } },
      { type: "tool.completed" },
    ]);
    await settle();
    expect(ends).toEqual([]);
  });

  it("is an obligation of its proof, which a log without it does not discharge", async () => {
    const { kernel, events } = await openKernel();
    kernel.registerTrusted(reading());
    const { proof } = await kernel.call("subject", {}, { body: bodySource([bytes(1)]).body });
    const log = await events();
    expect(obligationFault(proof!, log)).toBe(undefined);
    const silent = log.filter(({ type }) => type !== "body.read");
    expect(obligationFault(proof!, silent)).toBe("The log has no record of the body's bytes.");
    // A crash leaves nothing to say it.
    const torn = silent.filter(({ type }) => type !== "tool.completed");
    expect(obligationFault(proof!, torn)).toBe(undefined);
  });

  it("is asked for by a tool that takes one, and refused by any other", async () => {
    expect((await called(undefined)).result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => 1));
    const { body, ends } = bodySource([bytes(1)]);
    expect(await kernel.call("subject", {}, { body })).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    await settle();
    expect(ends).toEqual(["The call has ended."]);
  });

  it.each<[string, CallOptions, string, string]>([
    ["of a call that is blocked", {}, "TOOL_NOT_FOUND", "nobody"],
    ["of a call whose options are wrong", { bounds: { timeoutMs: -1 } }, "INVALID_INPUT", "subject"],
    ["of a call that was cancelled before", { signal: AbortSignal.abort() }, "CANCELLED", "subject"],
    ["of a call under an idempotency key", { idempotencyKey: "key" }, "INVALID_INPUT", "subject"],
  ])("is cancelled unread, so that its source can end: %s", async (_, options, code, tool) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(reading());
    const { body, ends, given } = bodySource([bytes(1)]);
    expect(await kernel.call(tool, {}, { ...options, body })).toMatchObject({ ok: false, error: { code } });
    await settle();
    expect([ends, given()]).toEqual([["The call has ended."], 0]);
    await expectSoundLog(kernel);
  });

  it("is not known before it has come: no result is kept for equal calls, and purity cannot be tried", async () => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(reading({ determinism: "pure" }));
    for (const value of [1, 2])
      expect(await kernel.call("subject", {}, { body: bodySource([bytes(value)]).body })).toMatchObject({
        ok: true,
        data: [value],
        meta: { cached: false },
      });
    expect(await kernel.verifyPure("subject", [{}])).toMatchObject({ ok: false, kind: "refused" });
    expect(await kernel.health("subject")).toEqual({ state: "healthy" });
  });

  const yesFor: readonly ApprovalAnswer[] = [
    { answer: "allow", scope: "session", approver: "ada" },
    { answer: "allow", scope: "pattern", pattern: [{ at: "/to", equals: "ada" }], approver: "ada" },
  ];
  it.each(yesFor)("makes it another call: a yes of scope $scope is for this one", async (answer) => {
    const seen: ApprovalRequest[] = [];
    const approver: Approver = async (request) => {
      seen.push(request);
      return answer;
    };
    const { kernel } = await openKernel({ approver });
    kernel.registerTrusted(reading({ approval: "always" }));
    for (const value of [1, 2]) {
      const { body } = bodySource([bytes(value)]);
      expect(await kernel.call("subject", { to: "ada" }, { body, sessionId: "session" })).toMatchObject({
        ok: true,
        proof: { approval: { approver: "ada", scope: "once" } },
      });
    }
    expect(seen.map(({ hasBody }) => hasBody)).toEqual([true, true]);
    expect(kernel.approvals.list()).toEqual([]);
  });

  it("does not make a yes out of what is none", async () => {
    const approver = async () => ({ answer: "allow", scope: "forever", approver: "ada" }) as unknown as ApprovalAnswer;
    const { kernel } = await openKernel({ approver });
    kernel.registerTrusted(reading({ approval: "always" }));
    const { body } = bodySource([bytes(1)]);
    expect(await kernel.call("subject", {}, { body })).toMatchObject({ error: { code: "APPROVAL_DENIED" } });
  });

  it("cannot come from a tool that calls the tool", async () => {
    const { kernel } = await openCalling([calling("outer", (_, { tools }) => tools.call("subject")), reading()]);
    expect(await kernel.call("outer", {})).toMatchObject({ ok: true, data: { error: { code: "INVALID_INPUT" } } });
  });

  it("goes to a tool that can read it: WebAssembly reads one whole", () => {
    const manifest = { ...manifestOf(reading(), "inline"), source: "wasm" };
    expect(checkPackage({ manifest, code: new Uint8Array(8), hash: "" })).toMatchObject({
      ok: false,
      error: { code: "INVALID_MANIFEST", path: "/body" },
    });
  });

  it("comes once: no second run begins when any of it was asked for", async () => {
    const runs = async (touches: boolean): Promise<unknown> => {
      let attempts = 0;
      const refused = async (_: unknown, { body, files }: ToolContext): Promise<number> => {
        attempts++;
        if (touches) for await (const _piece of body) break;
        await files.read("a");
        return 1;
      };
      const away = { ok: false, error: { code: "UNAVAILABLE", message: "Away.", hint: "" } } as const;
      const broker = {
        families: [fsRead],
        needs: () => ({ ok: true, needs: [{ kind: "fs.read", path: "a" }] }) as const,
        serve: async () => away,
      };
      const policy = granting({ kind: "fs.read", paths: ["**"] });
      const { kernel, clock } = await openKernel({ policy, brokers: [broker] });
      const capabilities = [{ kind: "fs.read", paths: ["**"] }];
      const more = { effects: ["fs.read"], determinism: "external", capabilities, idempotent: true, body: {} };
      kernel.registerTrusted(toolOf(refused, more));
      const call = kernel.call("subject", {}, { body: bodySource([bytes(1)]).body });
      await clock.advance(limits.retryMs * 10);
      expect(await call).toMatchObject({ ok: false, error: { code: "TOOL_ERROR" } });
      return attempts;
    };
    expect([await runs(false), await runs(true)]).toEqual([limits.attempts, 1]);
  });
});

describe("a caller's body", () => {
  const locked = (): ReadableStream<Uint8Array> => {
    const { body } = bodySource([]);
    body.getReader();
    return body;
  };

  it.each<[string, unknown]>([
    ["a number", 1],
    ["null", null],
    ["bytes", bytes(1)],
    ["nothing in it", {}],
    ["a reader that is none", { getReader: () => ({}) }],
    ["a reader without an end", { getReader: () => ({ read() {} }) }],
    [
      "a getter that throws",
      {
        get getReader(): never {
          throw new Error("no");
        },
      },
    ],
    ["locked", locked()],
  ])("that is none, or somebody else's, is refused: %s", async (_, body) => {
    expect((await called(body as CallOptions["body"])).result).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT" },
    });
  });

  const throwing = (): never => {
    throw new Error("again");
  };
  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["an error without words", Object.assign(new Error("x"), { message: { toString: throwing } })],
    ["an error whose message throws", Object.defineProperty(new Error("x"), "message", { get: throwing })],
    ["a proxy that throws at every touch", new Proxy({}, { get: throwing, getPrototypeOf: throwing, has: throwing })],
  ])("that breaks off with %s ends the call", async (_, thrown) => {
    const broken = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(thrown) });
    expect((await called(broken)).result).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
  });

  it("in one chunk of a gigabyte is refused before any of it is copied", async () => {
    const { result, read } = await called(bodySource([new Uint8Array(2 ** 30)]).body);
    expect(result).toMatchObject({ ok: false, error: { code: "BOUNDS_EXCEEDED", details: { bound: "bodyBytes" } } });
    expect(read).toMatchObject({ bodyBytes: 0, whole: false });
  });

  it("may give nothing for a while, and not for ever", async () => {
    const empty = (count: number): Uint8Array[] => Array.from({ length: count }, () => bytes());
    const { result } = await called(bodySource([...empty(limits.emptyChunks), bytes(1), ...empty(1)]).body);
    expect(result).toMatchObject({ ok: true, data: [1] });
    const forever = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(bytes()) });
    expect((await called(forever)).result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
    expect((await called(bodySource(empty(limits.emptyChunks + 1)).body)).result).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT" },
    });
  });

  it("in memory that it shares, or changes, is hashed as the tool got it", async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(2)).fill(7);
    const reused = bytes(1, 2);
    const { body } = bodySource([shared, reused], () => void (shared.fill(0), reused.fill(0)));
    const { result, read } = await called(body);
    expect(result).toMatchObject({ ok: true, data: [7, 7, 1, 2] });
    expect(read).toMatchObject({ bodyHash: hashBytes(bytes(7, 7, 1, 2)) });
  });

  const gone = (): Uint8Array => {
    const chunk = bytes(1, 2, 3);
    structuredClone(chunk, { transfer: [chunk.buffer as ArrayBuffer] });
    return chunk;
  };
  class Lying extends Uint8Array {
    override get byteLength(): number {
      return 1e12;
    }
  }

  it.each<[string, Uint8Array]>([
    ["memory was given away", gone()],
    ["length is a lie", new Lying(3)],
  ])("is refused where a chunk's %s", async (_, chunk) => {
    const { result } = await called(bodySource([chunk]).body);
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
  });

  it("is refused where a chunk's memory is given away while it is read", async () => {
    const chunk = new Uint8Array(limits.pieceBytes * 2);
    const { kernel } = await openKernel();
    const reads = async (_: unknown, { body }: Pick<ToolContext, "body">): Promise<number[]> => {
      for await (const _piece of body) structuredClone(chunk, { transfer: [chunk.buffer] });
      return [];
    };
    kernel.registerTrusted(reading({}, reads));
    const result = await kernel.call("subject", {}, { body: bodySource([chunk]).body });
    expect(result).toMatchObject({ ok: false, error: { code: "INVALID_INPUT" } });
  });

  it("that lies about its end, or fails to end, does no more than that", async () => {
    const reader = { read: async () => ({ done: "yes", value: bytes(9) }), cancel: () => Promise.reject(new Error()) };
    const { result } = await called({ getReader: () => reader } as unknown as CallOptions["body"]);
    expect(result).toMatchObject({ ok: true, data: [] });
    const nothing = { read: async () => undefined, cancel: () => undefined };
    expect((await called({ getReader: () => nothing } as unknown as CallOptions["body"])).result).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT" },
    });
  });
});
