import type { CallResult, JsonObject, JsonValue } from "@keyhole/kernel";
import { compileSchema } from "@keyhole/kernel/schema";
import { readEvent, readLog, readResult, readTools, readVerification } from "@keyhole/worker-host/edge-protocol";
import type { RunEntry } from "@keyhole/kernel/replay";
import { membersOf } from "@keyhole/kernel/foreign";
import { ClientFault, places } from "../client/kernel-client.ts";
import type { ActiveRun } from "../run/run-state.ts";
import { type CallHead, callStates } from "./call-head.ts";

const text: JsonObject = { type: "string" };
const number: JsonObject = { type: "number" };
const nullable: JsonObject = { type: ["string", "null"] };

const properties = {
  id: text,
  tab: text,
  place: { enum: places },
  address: nullable,
  tool: text,
  what: text,
  startedAt: number,
  state: { enum: callStates },
  code: text,
  callId: nullable,
  ownMs: number,
  waitedMs: number,
  openings: number,
  crossings: number,
  stopped: number,
  bytes: number,
  hash: nullable,
  verdict: nullable,
  events: number,
  logs: number,
  unkept: { type: "array", items: text },
} as const satisfies Record<keyof CallHead, JsonObject>;

const compiled = compileSchema({ type: "object", properties, required: Object.keys(properties) });
if (!compiled.ok) throw new Error(compiled.error.message);
const { validator } = compiled;

/** @returns `undefined` for what is none: another version of the page, or damage, may have written it */
export function readHead(stored: unknown): CallHead | undefined {
  const checked = validator.validate(stored);
  return checked.ok ? (checked.value as CallHead) : undefined;
}

/**
 * The call as it was, from what the browser kept.
 *
 * @throws {ClientFault} for what cannot be read
 */
export function readCall(head: CallHead, body: unknown, pieces: readonly unknown[]): ActiveRun {
  const { tool, input, fault, ...ended } = membersOf(body);
  const read = pieces.map(membersOf);
  const trace = {
    tool: readTools({ tools: [tool] }).tools[0]!,
    input: (input ?? null) as JsonValue,
    startedAt: head.startedAt,
    events: read.flatMap(({ events }) => listOf(events).map(readEvent)).sort((a, b) => a.seq - b.seq),
    logs: read.flatMap(({ logs }) => listOf(logs).map(readLog)),
    progress: undefined,
  };
  if (ended["result"] !== undefined) return { ...trace, phase: "done", ...endOf(ended), unkept: head.unkept };
  if (head.state === "left") return { ...trace, phase: "broken", fault: leftFault };
  if (fault === undefined) return { ...trace, phase: "running", cancelling: false, received: undefined };
  const { message, hint } = membersOf(fault);
  return { ...trace, phase: "broken", fault: new ClientFault("protocol", String(message), String(hint)) };
}

const leftFault = new ClientFault(
  "left",
  "The page was closed or reloaded before the call ended.",
  "The call may have had its effects. Its events until then are below.",
);

type Ended = Pick<EndedRun, "result" | "verification" | "file" | "recorded">;

function endOf({ result, data, verification, file, recorded }: Members): Ended {
  return {
    // Bytes are no JSON, which is all that the guard reads.
    result: { ...readResult({ ...membersOf(result), data: null }), ...(data !== undefined && { data }) } as CallResult,
    verification: verification === undefined ? undefined : readVerification(verification),
    file: file instanceof Blob ? file : undefined,
    // A replay checks all of it before it runs.
    recorded: Array.isArray(recorded) ? (recorded as readonly RunEntry[]) : undefined,
  };
}

type Members = Readonly<Record<string, unknown>>;
type EndedRun = ActiveRun & { readonly phase: "done" };

function listOf(stored: unknown): readonly unknown[] {
  return Array.isArray(stored) ? stored : [];
}
