import type {
  CallPort,
  CapabilityReply,
  CapabilityRequest,
  IsolateCall,
  IsolateOutcome,
  IsolateUsage,
  RegisteredTool,
} from "@keyhole/kernel";
import { toolOfModule } from "./run-body.ts";

/** Asks three times, one of them with bytes, and keeps something in memory, in its clock and in its generator meanwhile. */
export const waitingTool: RegisteredTool = toolOfModule(`
let seen = 0;
export default { code: { async execute(input, context) {
  const all = [context.random(), context.now()];
  context.log("begun");
  const [a, b] = await Promise.all([context.files.read("a"), context.files.read("b")]);
  seen += a.length + b.length;
  all.push(context.random(), new TextDecoder().decode(a), new TextDecoder().decode(b));
  await context.files.write("c", new TextEncoder().encode("written"));
  all.push(context.random(), seen);
  context.log("done");
  return all;
} } };`);

/** The kernel's end: answers what it is told to, and notes everything. */
export interface WaitingPort extends CallPort {
  readonly asked: CapabilityRequest[];
  readonly logs: string[];
  readonly usage: () => IsolateUsage;
  /** Resolves once so many requests have been made. */
  untilAsked(count: number): Promise<void>;
}

/** @param answers how many requests it answers, in order of asking; the others wait for ever */
export function waitingPort(answers = Number.POSITIVE_INFINITY): WaitingPort {
  const asked: CapabilityRequest[] = [];
  const logs: string[] = [];
  const waiting: { readonly count: number; readonly go: () => void }[] = [];
  let usage: IsolateUsage = {};
  return {
    asked,
    logs,
    usage: () => usage,
    signal: new AbortController().signal,
    request(request) {
      asked.push(request);
      for (const { count, go } of waiting) if (asked.length >= count) go();
      if (asked.length > answers) return new Promise<CapabilityReply>(() => {});
      const path = String(request.arguments["path"]);
      return Promise.resolve({ ok: true, value: null, body: new TextEncoder().encode(`content of ${path}`) });
    },
    untilAsked: (count) =>
      new Promise((resolve) => {
        waiting.push({ count, go: resolve });
        if (asked.length >= count) resolve();
      }),
    log: ({ message }) => logs.push(message),
    progress: () => {},
    used: (said) => (usage = said),
  };
}

/** A request as data that can be compared. */
export function textOf({ kind, operation, arguments: args, body }: CapabilityRequest): string {
  return JSON.stringify([kind, operation, args, body && new TextDecoder().decode(body)]);
}

export interface WholeRun {
  readonly outcome: IsolateOutcome;
  readonly usage: IsolateUsage;
  readonly asked: readonly string[];
  readonly logs: readonly string[];
}

export interface SuspendedOnNode {
  /** Base64. */
  readonly snapshot: string;
  readonly snapshotKind: string;
  readonly call: IsolateCall;
  /** What the same call gives without a break. */
  readonly whole: WholeRun;
}
