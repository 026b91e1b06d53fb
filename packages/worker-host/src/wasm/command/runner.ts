import {
  type Broker,
  type BrokerSession,
  type CallPort,
  type BrokerReply,
  type CapabilityReply,
  type CapabilityRequest,
  hashBytes,
  IsolateFailure,
  type IsolateOutcome,
  type IsolateUsage,
} from "@keyhole/kernel";
import { fsRead, fsWrite } from "@keyhole/kernel/families";
import { readNeeds, readReply } from "@keyhole/kernel/foreign";
import { cancelled, refused, type Refused } from "../../brokers/fault.ts";
import { type CommandRunner, type SpawnLimits, type SpawnRequest, tooMuchOutput } from "../../brokers/spawn.ts";
import type { CommandCall } from "../../protocol/message.ts";
import { mostEndBytes, unpackEnd } from "../tool/command-end.ts";
import type { PreparedCommand } from "./command.ts";
import type { CommandIsolates } from "./isolates.ts";

type Limits = Required<SpawnLimits>;

/**
 * Runs a WASI command in an isolate of the host. The command has its arguments, its input and its
 * environment. It reaches files through the broker for files, as far as its call has grants. Its
 * clock stands at the epoch and its random numbers follow from its arguments, unless the call has a
 * grant for real ones. So a run is a function of its input, and it costs the same everywhere.
 *
 * @param files the broker for its files. Default: the command has no files
 */
export function wasiRunner(
  command: PreparedCommand,
  isolates: CommandIsolates,
  files: Broker | undefined,
): CommandRunner {
  return {
    counts: true,
    fault: async () => undefined,
    async run(request, limits, session) {
      try {
        const { isolate, giveBack } = await isolates.take(command.name, command.module, session);
        const stop = (): void => isolate.terminate("the call has ended");
        session.signal.addEventListener("abort", stop, { once: true });
        if (session.signal.aborted) stop();
        try {
          const used: { usage?: IsolateUsage } = {};
          const call = callOf(command, request, limits, session);
          const outcome = await isolate.call(call, portOf(session, files, used));
          return session.signal.aborted ? cancelled : replyOf(outcome, request, limits, used.usage);
        } finally {
          session.signal.removeEventListener("abort", stop);
          giveBack();
        }
      } catch (error) {
        if (!(error instanceof IsolateFailure)) throw error;
        if (session.signal.aborted) return cancelled;
        const { hint, operatorHint } = error.hints;
        return refused("UNAVAILABLE", `${command.name} cannot be started: ${error.message}`, hint, operatorHint);
      }
    },
  };
}

let runs = 0;

function callOf(
  { name, env, fuel, memoryBytes }: PreparedCommand,
  request: SpawnRequest,
  { stdoutBytes, stderrBytes }: Limits,
  session: BrokerSession,
): CommandCall {
  const isGranted = (kind: "clock" | "random"): boolean => session.refusal({ kind }) === undefined;
  const args = [name, ...request.args];
  return {
    callId: `command-${runs++}`,
    sessionId: "",
    inputText: "",
    outputKind: "binary",
    outputBytes: mostEndBytes({ stdoutBytes, stderrBytes }),
    seed: hashBytes(new TextEncoder().encode(JSON.stringify(args))).slice(-64),
    nowMs: 0,
    real: { clock: isGranted("clock"), random: isGranted("random") },
    fuel: Math.min(fuel, request.fuel ?? fuel),
    memoryBytes: Math.min(memoryBytes, request.memoryBytes ?? memoryBytes),
    command: { args, environment: env, stdin: request.stdin, stdoutBytes, stderrBytes },
  };
}

/** The port through which a running command makes requests. */
function portOf(session: BrokerSession, files: Broker | undefined, used: { usage?: IsolateUsage }): CallPort {
  return {
    signal: session.signal,
    request: async (request) =>
      told(
        await askForFile(request, files, session).catch(() => refused("UNAVAILABLE", "The files are out of order.")),
      ),
    log: () => {},
    progress: () => {},
    used: (usage) => {
      used.usage = usage;
    },
  };
}

/** Drops `operatorHint`: a command must not read it. */
function told(reply: BrokerReply): CapabilityReply {
  if (reply.ok) return reply;
  const { code, message, hint } = reply.error;
  return { ok: false, error: { code, message, hint } };
}

/** Under the grants and budgets of the call that started the command, as if its tool had asked. */
async function askForFile(
  request: CapabilityRequest,
  files: Broker | undefined,
  session: BrokerSession,
): Promise<BrokerReply> {
  const { kind, body } = request;
  const served = kind === "fs.read" ? fsRead : kind === "fs.write" ? fsWrite : undefined;
  if (!served || !files || !files.families.includes(served))
    return refused("CAPABILITY_DENIED", `A command receives no ${kind} here.`);
  const needs = readNeeds(await files.needs(request));
  if (!needs.ok) return needs;
  for (const need of needs.needs) {
    const refusal = session.refusal(need);
    if (refusal) return { ok: false, error: refusal };
  }
  const spent = body && session.spend({ bytes: body.byteLength }, needs.needs[0]);
  if (spent) return { ok: false, error: spent };
  const reply = readReply(await files.serve(request, session));
  const tooMuch =
    reply.ok && kind === "fs.read" && reply.body && session.spend({ bytes: reply.body.byteLength }, needs.needs[0]);
  return tooMuch ? { ok: false, error: tooMuch } : reply;
}

function replyOf(
  outcome: IsolateOutcome,
  { command }: SpawnRequest,
  limits: Limits,
  usage: IsolateUsage = {},
): BrokerReply {
  switch (outcome.kind) {
    case "returned": {
      const end = outcome.output.form === "binary" ? unpackEnd(outcome.output.bytes) : undefined;
      if (end === undefined) return outOfOrder(command, "its isolate said nothing that can be read");
      // Cut at any byte, and of any encoding: malformed UTF-8 shows as U+FFFD.
      const stderr = new TextDecoder().decode(end.stderr);
      return { ok: true, value: { exitCode: end.exitCode, stderr, ...usage }, body: end.stdout };
    }
    case "out-of-fuel":
      return bound(`${command} used up its fuel of ${outcome.limit}.`);
    case "out-of-memory":
      return bound(`${command} needs more than ${outcome.limit} bytes of memory.`);
    case "too-large":
      if (outcome.what === "output") return tooMuchOutput(command, limits);
      return bound(`${command} exceeded its bound for ${outcome.what}, ${outcome.limit}.`);
    case "lost":
      return outOfOrder(command, outcome.reason);
    default:
      return outOfOrder(command, `its isolate answered with ${outcome.kind}`);
  }
}

function bound(message: string): Refused {
  return refused("BOUNDS_EXCEEDED", message, "Request less output.");
}

function outOfOrder(command: string, reason: string): Refused {
  return refused("UNAVAILABLE", `${command} was ended: ${reason}.`, "Try again.");
}
