import {
  type ApprovalRequest,
  type Approver,
  type Broker,
  type CallPort,
  type CapabilityReply,
  type ContentStore,
  type Isolate,
  type IsolateCall,
  type IsolateHost,
  IsolateFailure,
  type IsolateOutcome,
  type SecretKeeper,
  type ToolPackage,
} from "@keyhole/kernel";
import { kvRead } from "@keyhole/kernel/families";
import { noSecrets } from "../../../packages/kernel/src/capability/secret.ts";
import { toolOf } from "../../support/kernel.ts";
import { hostOpening, packed } from "../../support/module-host.ts";

/** At one moment of a call, which its plan names, one of these happens. */
export const misfortunes = [
  "none",
  "throw",
  "cancel",
  "suspend",
  "revoke approval",
  "revoke grant",
  "mode",
  "sink",
  "hang",
  "lost",
  "deny",
  "edit",
] as const;
export type Misfortune = (typeof misfortunes)[number];

export const toolKinds = ["reading", "pure", "stream", "body", "nested", "idempotent"] as const;
export type ToolKind = (typeof toolKinds)[number];

export interface Plan {
  readonly misfortune: Misfortune;
  /** Moments before it. A moment is a call of something that the kernel does not own. */
  readonly after: number;
  readonly tool: ToolKind;
  readonly isAsked: boolean;
  readonly isKeyed: boolean;
  /** Another caller wants the one slot. */
  readonly isCrowded: boolean;
  readonly isSlow: boolean;
}

/** Told at each moment: acts, or throws. */
export type Tick = (place: string) => void;

const kv = { kind: "kv.read", keys: ["*"] };
const parts = {
  reading: { capabilities: [kv], effects: ["kv.read"], determinism: "external" },
  idempotent: { capabilities: [kv], effects: ["kv.read"], determinism: "external", idempotent: true },
  stream: { capabilities: [kv], effects: ["kv.read"], determinism: "external", output: { kind: "stream" } },
  body: { capabilities: [kv], effects: ["kv.read"], determinism: "external", body: {} },
  nested: { capabilities: [kv, { kind: "tool.call", tools: ["*"] }], effects: ["kv.read"], determinism: "external" },
  pure: { determinism: "pure" },
} satisfies Record<ToolKind, object>;

const bounds = { concurrency: 1, timeoutMs: 5_000 };

export function toolsOf({ tool }: Plan): readonly ToolPackage[] {
  const inner = { ...parts.reading, name: "inner", bounds };
  return [packed(toolOf(() => 1, { ...parts[tool], bounds })), packed(toolOf(() => 1, inner))];
}

export function policyOf({ isAsked }: Plan): object {
  return {
    version: "1",
    posture: "permissive",
    grants: [kv, { kind: "tool.call", tools: ["*"] }].map((capability) => ({ tool: "*", capability })),
    rules: [
      { id: "count", effect: "deny", when: { count: { windowMs: 60_000, moreThan: 1_000 } }, reason: "Too often." },
      ...(isAsked ? [{ id: "ask", effect: "ask", when: { tool: ["subject"] }, reason: "May it?" }] : []),
    ],
    tools: { subject: { keep: { input: ["/n"] } } },
  };
}

/** Isolates that are open, for all hosts of one play. */
export interface Opened {
  isolates: number;
}

/** Runs tools as their plan says. Its isolates can be suspended while they wait. */
export function hostOf(plan: Plan, tick: Tick, opened: Opened): IsolateHost {
  const open = async (name: string, isAgain = false): Promise<Isolate> => {
    tick("open");
    opened.isolates++;
    let isAlive = true;
    const ended = Promise.withResolvers<IsolateOutcome>();
    return {
      get alive() {
        return isAlive;
      },
      call: (call, port) => Promise.race([ended.promise, runs(plan, tick, name, call, port, isAgain)]),
      suspend: async () => (tick("suspend"), await null, new Uint8Array([1])),
      terminate(reason) {
        if (isAlive) opened.isolates--;
        isAlive = false;
        ended.resolve({ kind: "lost", reason });
      },
    };
  };
  return hostOpening("fake", ({ manifest }) => open(manifest.name), {
    enforces: () => (tick("enforces"), []),
    snapshotKind: async () => "fake",
    thaw: ({ manifest }, _, isWanted) =>
      isWanted?.() === false ? Promise.reject(new IsolateFailure("ISOLATE_LOST", "")) : open(manifest.name, true),
  });
}

async function runs(
  { misfortune, tool }: Plan,
  tick: Tick,
  name: string,
  { outputKind, hasBody }: IsolateCall,
  port: CallPort,
  isAgain: boolean,
): Promise<IsolateOutcome> {
  await null;
  tick("run");
  if (misfortune === "lost" && !isAgain) return { kind: "lost", reason: "misfortune" };
  if (outputKind === "stream") await port.write?.(new Uint8Array(8));
  if (hasBody) while ((await port.read?.())?.length) tick("read");
  const get = { kind: "kv.read", operation: "get", arguments: { key: "a" } } as const;
  if (tool === "nested" && name === "subject") {
    const inner = { kind: "tool.call", operation: "call", arguments: { name: "inner", input: {} } } as const;
    await Promise.all([port.request(inner), port.request(get)]);
  } else if (tool !== "pure") await Promise.all([port.request(get), port.request(get)]);
  tick("ran");
  if (outputKind === "stream") return { kind: "returned", output: { form: "stream" } };
  return { kind: "returned", output: { form: "json", text: '{"n":1}' } };
}

export function brokerOf({ misfortune, after }: Plan, tick: Tick): Broker {
  return {
    families: [kvRead],
    needs: () => (tick("needs"), { ok: true, needs: [{ kind: "kv.read", key: "a" }] }),
    async serve(_, { signal }): Promise<CapabilityReply> {
      tick("serve");
      if (misfortune === "hang" && after % 2 === 0)
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      await null;
      tick("served");
      return { ok: true, value: { found: false } };
    },
  };
}

export function approverOf(
  { misfortune, after }: Plan,
  tick: Tick,
  asked: (request: ApprovalRequest) => void,
): Approver {
  let edits = after % 7;
  return async (request) => {
    asked(request);
    tick("approver");
    if (misfortune === "hang") return new Promise(() => {});
    await null;
    tick("approved");
    const approver = "ada";
    if (misfortune === "deny") return { answer: "deny", approver };
    if (misfortune === "edit" && edits-- > 0) return { answer: "edit", input: { n: edits }, approver };
    return { answer: "allow", scope: after % 3 === 0 ? "session" : "once", approver };
  };
}

export function contentOf(tick: Tick): ContentStore {
  const get = async (): Promise<undefined> => undefined;
  return { put: async () => (await null, tick("content")), get, delete: get };
}

export function secretsOf(tick: Tick): SecretKeeper {
  return { families: [], open: () => (tick("secrets"), { ...noSecrets, takeUses: () => (tick("uses"), []) }) };
}

/** A signal that knows who listens to it, and whose methods are foreign as well. */
export function watchedSignal(tick: Tick): { readonly controller: AbortController; readonly listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  const listeners: unknown[] = [];
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    tick("listen");
    listeners.push(args[1]);
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    const at = listeners.indexOf(args[1]);
    if (at >= 0) listeners.splice(at, 1);
    remove(...args);
  };
  return { controller, listeners: () => (signal.aborted ? 0 : listeners.length) };
}
