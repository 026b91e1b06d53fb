import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { access, constants, mkdtemp, realpath, rm } from "node:fs/promises";
import { constants as system, tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { Broker, BrokerSession, BrokerReply } from "@keyhole/kernel";
import { GatheredBytes, knownOptions } from "@keyhole/kernel/foreign";
import { cancelled, refused } from "../brokers/fault.ts";
import {
  commandBroker,
  spawnLimits,
  type CommandRunner,
  type SpawnLimits,
  type SpawnRequest,
  tooMuchOutput,
} from "../brokers/spawn.ts";
import { killAll } from "./processes.ts";

/** A program that a host offers under a name. */
export interface SpawnCommand {
  /** Absolute. The host does not search `PATH`. */
  readonly path: string;
  /** The whole environment of the program, one variable of Keyhole's own aside. Default: empty. */
  readonly env?: Readonly<Record<string, string>>;
  /** Before the arguments of each call, which grants do not see: a script for an interpreter, say. Default: none. */
  readonly args?: readonly string[];
  /** The folder in which it starts, absolute. Default: an empty one of its own, removed afterwards. */
  readonly cwd?: string;
}

export interface SpawnBrokerOptions extends SpawnLimits {
  /** Programs by name. */
  readonly commands: Readonly<Record<string, SpawnCommand | string>>;
}

/**
 * Serves `process.spawn` with programs that the host names by absolute path. A program runs without
 * a shell, with an empty environment, with three pipes, and in its own
 * temporary folder. Of open files it has those alone that this process inherited above descriptor 15. At its end, and at the end of its call, the broker kills every process that it
 * started.
 *
 * A program runs with the rights of this process: it can read and write what this process can, and reach the network. Offer only programs that do what
 * their arguments say, and grant the arguments. `run` answers `{ exitCode, stderr }` with stdout as body; a program that a signal ended has 128 and its
 * number, as in shells.
 *
 * @example
 * spawnBroker({ commands: { wc: "/usr/bin/wc", git: { path: "/usr/bin/git", env: { HOME: "/nonexistent" } } } })
 *
 * @throws {TypeError} when a path is not absolute or a name is none
 */
export function spawnBroker(options: SpawnBrokerOptions): Broker {
  const { commands, ...limits } = knownOptions(options, { commands: true, ...spawnLimits }, "spawnBroker");
  return commandBroker(
    new Map(Object.entries(commands).map(([name, command]) => [name, programRunner(name, command)])),
    limits,
  );
}

/** @throws {TypeError} when the path is not absolute */
export function programRunner(name: string, command: SpawnCommand | string): CommandRunner {
  const {
    path,
    env = {},
    args = [],
    cwd,
  } = typeof command === "string"
    ? { path: command }
    : knownOptions(command, { path: true, env: true, args: true, cwd: true }, `The command ${name}`);
  for (const each of cwd === undefined ? [path] : [path, cwd])
    if (!isAbsolute(each)) throw new TypeError(`The path of ${name} is not absolute: ${each}.`);
  return {
    counts: false,
    run: (request, limits, session) => runInFolder({ path, env, args, cwd }, request, limits, session),
    fault: () =>
      access(path, constants.X_OK).then(
        () => undefined,
        () => "The host's file for it is not executable.",
      ),
  };
}

type Limits = Required<SpawnLimits>;
type Program = Required<Omit<SpawnCommand, "cwd">> & { readonly cwd: string | undefined };

async function runInFolder(
  program: Program,
  request: SpawnRequest,
  limits: Limits,
  session: BrokerSession,
): Promise<BrokerReply> {
  if (program.cwd !== undefined) return run(program, request, program.cwd, limits, session.signal);
  const folder = await mkdtemp(join(await realpath(tmpdir()), "keyhole-spawn-"));
  try {
    // It can have ended during the creation of the folder, without a later event.
    return session.signal.aborted ? cancelled : await run(program, request, folder, limits, session.signal);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;
type ProcessEnd =
  | { readonly kind: "exit"; readonly exitCode: number }
  | { readonly kind: "failed"; readonly code: string }
  | { readonly kind: "cancelled" | "too-large" };

async function run(
  { path, env, args: ownArgs }: Program,
  { command, args, stdin }: SpawnRequest,
  cwd: string,
  limits: Limits,
  signal: AbortSignal,
): Promise<BrokerReply> {
  const mark = `KEYHOLE_PROCESS=${randomUUID()}`;
  const [markName = "", markValue = ""] = mark.split("=");
  const child = spawn(path, [...ownArgs, ...args], {
    cwd,
    env: { ...env, [markName]: markValue },
    // A group of its own, which one signal kills.
    detached: true,
    shell: false,
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
  });
  const { promise: ending, resolve: end } = Promise.withResolvers<ProcessEnd>();
  const stdout = collect(child.stdout, limits.stdoutBytes, () => end({ kind: "too-large" }));
  const stderr = collect(child.stderr, limits.stderrBytes, () => {});
  const onCancel = (): void => end({ kind: "cancelled" });
  signal.addEventListener("abort", onCancel, { once: true });
  child.on("error", (error: NodeJS.ErrnoException) => end({ kind: "failed", code: error.code ?? error.name }));
  child.on("exit", (code, name) => end({ kind: "exit", exitCode: code ?? 128 + (name ? system.signals[name] : 0) }));
  // A program need not read its input.
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);

  const how = await ending;
  signal.removeEventListener("abort", onCancel);
  if (child.pid !== undefined) await killAll(child.pid, mark);
  await closed(child);
  switch (how.kind) {
    case "exit":
      if (stdout.full) return tooMuchOutput(command, limits);
      return { ok: true, value: { exitCode: how.exitCode, stderr: textOf(stderr.take()) }, body: stdout.take() };
    case "too-large":
      return tooMuchOutput(command, limits);
    case "cancelled":
      return cancelled;
    case "failed":
      return refused("UNAVAILABLE", `${command} cannot be started: ${how.code}.`, "The host's settings name its path.");
  }
}

interface Collected {
  readonly full: boolean;
  /** Once: they are gone afterwards. */
  take(): Uint8Array;
}

/**
 * Keeps the first bytes of a stream and drops the rest, so the program never waits for a reader.
 */
function collect(stream: Readable, limitBytes: number, onFull: () => void): Collected {
  const kept = new GatheredBytes();
  let full = false;
  stream.on("data", (chunk: Uint8Array) => {
    if (kept.length + chunk.byteLength > limitBytes) {
      full = true;
      onFull();
    }
    kept.add(chunk.subarray(0, limitBytes - kept.length));
  });
  stream.on("error", () => {});
  return {
    get full() {
      return full;
    },
    take: () => kept.take(),
  };
}

/**
 * Waits for the last output in the pipes. A process that escaped the kill can hold them open: then
 * this side closes them.
 */
async function closed(child: Child): Promise<void> {
  const streams = [child.stdout, child.stderr].filter((stream) => !stream.closed);
  const ends = streams.map((stream) => new Promise((resolve) => stream.once("close", resolve)));
  const timer = setTimeout(() => streams.forEach((stream) => stream.destroy()), 500);
  await Promise.all(ends);
  clearTimeout(timer);
  child.stdin.destroy();
}

/** Cut at any byte, in any encoding: bytes that are no UTF-8 show as U+FFFD. */
function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
