import { type CallResult, createKernel, type ErrorCode, IsolateFailure, terminalTypes } from "@keyhole/kernel";
import { checkPolicy, composeKernel } from "@keyhole/kernel/compose";
import { inlineHost } from "@keyhole/kernel/inline";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { filesBroker } from "@keyhole/worker-host/brokers/files";
import { FakeClock } from "../support/fake-clock.ts";
import { echo, openPolicy, toolOf } from "../support/kernel.ts";
import { suspendedQuestion } from "../support/suspension.ts";
import { registerAny } from "../support/registered.ts";
import type { Scenario } from "./scenario.ts";
import { setAsides, timeouts } from "./timeout-scenarios.ts";
import readFile from "../../packages/worker-host/src/tools/read-file.ts";
import {
  call,
  waits,
  crowded,
  withSuspender,
  elevated,
  readsFile,
  withFiles,
  storeWith,
  brokenStore,
  packageOf,
  scripted,
  brokenSink,
} from "./scenario-parts.ts";

export interface Seen {
  readonly result: CallResult;
  /** The event that ended the call; `undefined` where the log has none. */
  readonly terminal: string | undefined;
}

export async function play({ options = {}, composed, tools, run = (kernel) => call(kernel) }: Scenario): Promise<Seen> {
  const clock = new FakeClock();
  const given = typeof options === "function" ? options() : options;
  const kernel = composed
    ? await composeKernel({
        policy: openPolicy,
        clock,
        hash: sha256Hash,
        inline: inlineHost(),
        checkPolicy,
        extensions: composed,
      })
    : await createKernel({ policy: openPolicy, clock, ...given });
  for (const tool of tools) registerAny(kernel, tool);
  const result = await run(kernel, clock);
  const events = await kernel.audit.read();
  const terminal = events.find(({ callId, type }) => callId === result.callId && terminalTypes.includes(type));
  return { result, terminal: terminal?.type };
}

/** Per code, in the order of the examples on its page. */
export const scenarios = {
  TOOL_NOT_FOUND: [
    { tools: [echo], run: (kernel) => kernel.call("ecko", {}) },
    { tools: [echo], run: (kernel) => call(kernel, { version: "^2.0.0" }) },
  ],
  INVALID_INPUT: [
    { tools: [echo], run: (kernel) => kernel.call("echo", { message: 42 }) },
    { tools: [echo], run: (kernel) => kernel.call("echo", { message: () => "hello" }) },
    { tools: [readFile], run: (kernel) => kernel.call("read_file", { path: "../up" }) },
    { tools: [toolOf(() => 1, { check: () => "The end is before the start." })] },
    {
      tools: [echo],
      run: (kernel) => kernel.call("echo", { message: "hello" }, { grants: [{ kind: "everything" } as never] }),
    },
  ],
  CAPABILITY_DENIED: [
    { tools: [readsFile("notes/today.txt")] },
    { options: withFiles, tools: [readsFile("notes/today.txt")], run: (kernel) => call(kernel, { grants: [] }) },
    { options: withFiles, tools: [readsFile("private/diary.txt")] },
    { options: { ...withFiles, brokers: [] }, tools: [readsFile("notes/today.txt")] },
  ],
  POLICY_DENIED: [
    {
      options: {
        policy: {
          ...openPolicy,
          rules: [{ id: "no-echo-today", effect: "deny", when: { tool: ["echo"] }, reason: "Echo is under repair." }],
        },
      },
      tools: [echo],
      run: (kernel) => kernel.call("echo", { message: "hello" }),
    },
    { options: { policy: { version: "1", posture: "strict" } }, tools: [elevated] },
  ],
  APPROVAL_DENIED: [
    {
      options: { approver: async () => ({ answer: "deny", approver: "ada", reason: "Not today." }) },
      tools: [elevated],
    },
    { tools: [elevated] },
    {
      tools: [elevated],
      run: (kernel) =>
        call(kernel, {
          approver: async () => {
            await kernel.setMode("ALERT", "while the question was open");
            return { answer: "allow", scope: "once", approver: "ada" };
          },
        }),
    },
  ],
  APPROVAL_EXPIRED: [
    {
      options: { approver: () => new Promise(() => {}) },
      tools: [elevated],
      async run(kernel, clock) {
        const pending = call(kernel);
        await clock.advance(120_000);
        return pending;
      },
    },
  ],
  RATE_LIMITED: [
    crowded(2, { waitMs: 1_000 }),
    crowded(102),
    {
      tools: [toolOf(() => 1, { bounds: { callsPerHour: 1 } })],
      async run(kernel, clock) {
        await call(kernel);
        await clock.advance(600_000);
        return call(kernel);
      },
    },
  ],
  BOUNDS_EXCEEDED: [
    { tools: [toolOf(() => "x".repeat(2_000_000))] },
    scripted({ kind: "too-large", what: "messages", limit: 1_000 }),
    {
      options: {
        brokers: [filesBroker(storeWith("notes/long.txt", 2))],
        policy: {
          ...openPolicy,
          grants: [{ tool: "subject", capability: { kind: "fs.read", paths: ["**"], fileBytes: 1 } }],
        },
      },
      tools: [readsFile("notes/long.txt")],
    },
  ],
  TIMEOUT: timeouts,
  TOOL_SET_ASIDE: setAsides,
  CANCELLED: [
    {
      options: { approver: () => new Promise(() => {}) },
      tools: [elevated],
      run: (kernel) => call(kernel, { signal: AbortSignal.abort() }),
    },
    {
      tools: [waits()],
      async run(kernel, clock) {
        const controller = new AbortController();
        const pending = call(kernel, { signal: controller.signal });
        await clock.advance(10);
        controller.abort();
        await clock.advance(250);
        return pending;
      },
    },
  ],
  OUT_OF_FUEL: [scripted({ kind: "out-of-fuel", limit: 1_000 }), scripted({ kind: "out-of-fuel" })],
  OUT_OF_MEMORY: [scripted({ kind: "out-of-memory", limit: 65_536 }), scripted({ kind: "out-of-memory" })],
  ISOLATE_LOST: [
    {
      tools: [waits()],
      async run(kernel, clock) {
        const pending = call(kernel);
        await clock.advance(1);
        await kernel.close();
        return pending;
      },
    },
    {
      tools: [waits()],
      async run(kernel, clock) {
        const other = call(kernel, { sessionId: "shared", bounds: { timeoutMs: 100 } });
        const pending = call(kernel, { sessionId: "shared" });
        await clock.advance(100);
        await other;
        return pending;
      },
    },
  ],
  TOOL_ERROR: [
    {
      tools: [
        toolOf(() => {
          throw new RangeError("The list is empty.");
        }),
      ],
    },
    { options: withFiles, tools: [readsFile("notes/missing.txt")] },
    { options: { ...withFiles, brokers: [filesBroker(brokenStore)] }, tools: [readsFile("notes/away.txt")] },
    scripted(() => {
      throw new IsolateFailure(
        "TOOL_ERROR",
        "The module of subject@1.0.0 failed to load: SyntaxError: Unexpected token",
      );
    }),
  ],
  INVALID_OUTPUT: [
    {
      tools: [
        toolOf(() => ({ celsius: "17" }), {
          output: {
            kind: "json",
            schema: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
          },
        }),
      ],
    },
    scripted({ kind: "returned", output: { form: "text", text: "17" } }),
  ],
  NOT_NORMALIZABLE: [{ tools: [toolOf(() => ({ when: new Date(0) }))] }],
  AUDIT_UNAVAILABLE: [
    { options: () => ({ sink: brokenSink(0) }), tools: [toolOf(() => 1)] },
    { options: () => ({ sink: brokenSink(1) }), tools: [toolOf(() => 1)] },
  ],
  UNSUPPORTED_HOST: [
    { tools: [toolOf(() => 1, { bounds: { memoryBytes: 1 << 20 } })] },
    { tools: [packageOf()] },
    scripted(() => {
      throw new IsolateFailure("UNSUPPORTED_HOST", "The page's Content-Security-Policy blocks isolates.");
    }),
  ],
  SUSPENDED: [
    {
      options: () => ({ ...withSuspender(), approver: () => new Promise(() => {}) }),
      tools: [elevated],
      run: suspendedQuestion,
    },
  ],
  SUSPENSION_UNAVAILABLE: [{ tools: [elevated], run: (kernel) => kernel.resume(new Uint8Array(1_000)) }],
  APPROVAL_UNAVAILABLE: [{ composed: [], tools: [elevated] }],
  IDEMPOTENCY_UNAVAILABLE: [{ composed: [], tools: [echo], run: (kernel) => call(kernel, { idempotencyKey: "k" }) }],
  SNAPSHOT_REFUSED: [
    {
      options: withSuspender,
      tools: [elevated],
      run: (kernel) => kernel.resume(new Uint8Array(1_000)),
    },
  ],
  INTERNAL: [
    scripted(() => {
      throw new Error("The host has a bug.");
    }),
    {
      options: {
        approver: async () => ({ answer: "deny", approver: "ada" }),
        clock: Object.assign(new FakeClock(), { after: fails }),
      },
      tools: [elevated],
    },
  ],
} satisfies Record<ErrorCode, readonly Scenario[]>;

function fails(): never {
  throw new Error("The host has a bug.");
}
