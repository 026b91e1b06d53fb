import {
  type Broker,
  type BrokerSession,
  type BrokerReply,
  type CapabilityRequest,
  checkArgument,
  checkCommand,
  type JsonValue,
  type Need,
} from "@keyhole/kernel";
import { processSpawn } from "@keyhole/kernel/families";
import { knownOptions, type OptionNames } from "@keyhole/kernel/foreign";
import { refused, type Refused } from "./fault.ts";
import { Places } from "./places.ts";

/** How much goes into a command and comes out of it, and how many run. */
export interface SpawnLimits {
  /** Bytes of the input, and of all inputs with which one caller waits. Default 16 MiB. */
  readonly stdinBytes?: number;
  /** Bytes of the output; the host ends a command that writes more. Default 4 MiB. */
  readonly stdoutBytes?: number;
  /** Bytes that are kept of what it says on stderr; the rest is dropped. Default 64 KiB. */
  readonly stderrBytes?: number;
  /** Commands that run at the same time. A caller starts one while it has fewer than are free; others wait, and callers take turns. Default 8. */
  readonly processes?: number;
}

export const spawnLimits: OptionNames<SpawnLimits> = {
  stdinBytes: 0,
  stdoutBytes: 0,
  stderrBytes: 0,
  processes: 1,
};

/** A request as it was read. */
export interface SpawnRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly stdin: Uint8Array;
  /** Bounds of this run, for commands that count. They only lower what the host has set. */
  readonly fuel?: number;
  readonly memoryBytes?: number;
}

/**
 * A command that a host offers under one name: a program of its system, or a WebAssembly module.
 */
export interface CommandRunner {
  /** Whether it counts fuel and memory. Otherwise the host refuses a request with a bound for them. */
  readonly counts: boolean;
  /** Answers `{ exitCode, stderr, fuelUsed?, peakMemoryBytes? }` with stdout as body. Never rejects for what the command or the world did wrong. */
  run(request: SpawnRequest, limits: Required<SpawnLimits>, session: BrokerSession): Promise<BrokerReply>;
  /** Why it cannot be run, as a sentence, without running it. */
  fault(): Promise<string | undefined>;
}

export type CommandRunners = ReadonlyMap<string, CommandRunner>;

const defaults = { stdinBytes: 16 << 20, stdoutBytes: 4 << 20, stderrBytes: 65_536, processes: 8 } as const;

/**
 * Serves `process.spawn` with what a host offers. `run` takes `{ command, args }` with stdin as body, and `fuel` and `memoryBytes` where the command counts them; it answers
 * `{ exitCode, stderr }` with stdout as body. Ends a command with its call.
 *
 * @throws {TypeError} when a name is none
 */
export function commandBroker(runners: CommandRunners, options: SpawnLimits = {}): Broker {
  for (const name of runners.keys()) {
    const fault = checkCommand(name);
    if (fault) throw new TypeError(`${JSON.stringify(name)}: ${fault}.`);
  }
  const limits: Required<SpawnLimits> = { ...defaults, ...knownOptions(options, spawnLimits, "commandBroker") };
  const places = new Places({ size: limits.processes, subject: "commands", waitingBytes: limits.stdinBytes });
  return {
    families: [processSpawn],
    needs(request) {
      const read = readRequest(request, limits);
      return read.ok ? { ok: true, needs: [needOf(read.value)] } : read;
    },
    async serve(request, session) {
      const read = readRequest(request, limits);
      if (!read.ok) return read;
      const refusal = session.refusal(needOf(read.value));
      if (refusal) return { ok: false, error: refusal };
      const runner = runners.get(read.value.command);
      if (runner === undefined)
        return refused("NOT_FOUND", `This host offers no command ${JSON.stringify(read.value.command)}.`);
      if (!runner.counts && (read.value.fuel !== undefined || read.value.memoryBytes !== undefined))
        return refused("INVALID_REQUEST", `${read.value.command} counts neither fuel nor memory.`);
      return places.serve(session, () => runner.run(read.value, limits, session), read.value.stdin.byteLength);
    },
  };
}

function readRequest(
  { operation, arguments: { command, args = [], fuel, memoryBytes }, body }: CapabilityRequest,
  { stdinBytes }: Required<SpawnLimits>,
): { readonly ok: true; readonly value: SpawnRequest } | Refused {
  if (operation !== "run")
    return refused("INVALID_REQUEST", `Commands have no operation ${JSON.stringify(operation.slice(0, 40))}.`);
  if (typeof command !== "string") return refused("INVALID_REQUEST", "`command` is not a string.");
  const fault = checkCommand(command);
  if (fault) return refused("INVALID_REQUEST", `The command is invalid: ${fault}.`, "Put each argument into `args`.");
  if (!Array.isArray(args)) return refused("INVALID_REQUEST", "`args` is not a list of strings.");
  const texts: string[] = [];
  for (const [index, argument] of (args as readonly JsonValue[]).entries()) {
    const reason = typeof argument === "string" ? checkArgument(argument) : "an argument is not a string";
    if (reason) return refused("INVALID_REQUEST", `Argument ${index + 1} is refused: ${reason}.`);
    texts.push(argument as string);
  }
  if (!isBound(fuel) || !isBound(memoryBytes))
    return refused("INVALID_REQUEST", "`fuel` or `memoryBytes` is not an integer.");
  if (body !== undefined && body.byteLength > stdinBytes)
    return refused("BOUNDS_EXCEEDED", `The input of a command has at most ${stdinBytes} bytes.`);
  const bounds = { ...(fuel !== undefined && { fuel }), ...(memoryBytes !== undefined && { memoryBytes }) };
  return { ok: true, value: { command, args: texts, stdin: body ?? new Uint8Array(), ...bounds } };
}

function isBound(value: JsonValue | undefined): value is number | undefined {
  return value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0);
}

function needOf({ command, args }: SpawnRequest): Need {
  return { kind: "process.spawn", command, args };
}

/** The refusal of a command that writes too much. */
export function tooMuchOutput(command: string, { stdoutBytes }: Required<SpawnLimits>): Refused {
  return refused("BOUNDS_EXCEEDED", `${command} wrote more than ${stdoutBytes} bytes.`, "Request less output.");
}
