import type { Broker, IsolateHost } from "@keyhole/kernel";
import { fsRead } from "@keyhole/kernel/families";
import { knownOptions } from "@keyhole/kernel/foreign";
import { type CommandRunner, type CommandRunners, type SpawnLimits, spawnLimits } from "../../brokers/spawn.ts";
import { withCommands } from "../../process/tool.ts";
import { openModule } from "../tool/host.ts";
import { prepareCommand, type WasiCommand } from "./command.ts";
import { CommandIsolates, type OpenModule } from "./isolates.ts";
import { wasiRunner } from "./runner.ts";

export interface WasiCommandsOptions extends SpawnLimits {
  /** By the names under which tools know them. */
  readonly commands: Readonly<Record<string, WasiCommand>>;
  /** The broker for the commands' files: `fs.read` and `fs.write`. Default: the host's broker for files, if it has one. */
  readonly files?: Broker;
}

/**
 * Adds commands to a host that runs them on its own thread, such as `interpreterHost` or `wasmHost`: for `context.spawn` and for tools of source `process`. Each is a WASI
 * command under fuel; until it has ended or waits for a file, nothing else happens on this thread.
 *
 * @throws {TypeError} for a name that is none, and a module that cannot be a command
 * @example
 * withWasiCommands(interpreterHost({ engine }), { commands: { sort: { module: bytes, fuel: 100_000_000 } } })
 */
export function withWasiCommands(host: IsolateHost, options: WasiCommandsOptions): IsolateHost {
  const {
    commands,
    files = filesOf(host.brokers),
    ...limits
  } = knownOptions(options, { ...spawnLimits, commands: true, files: true }, "withWasiCommands");
  const open: OpenModule = (module, name) => openModule(module, name);
  return withCommands(host, wasiRunners(commands, { open, places: 1, files, compiled: true }), limits);
}

export interface WasiPlace {
  readonly open: OpenModule;
  /** Isolates for commands at the same time. */
  readonly places: number;
  readonly files: Broker | undefined;
  /** Whether a compiled module reaches them. */
  readonly compiled: boolean;
}

/** @throws {TypeError} */
export function wasiRunners(
  commands: Readonly<Record<string, WasiCommand>>,
  { open, places, files, compiled }: WasiPlace,
): CommandRunners {
  const isolates = new CommandIsolates(open, places);
  const runnerOf = (name: string, command: WasiCommand): CommandRunner => {
    if (!compiled && command.module instanceof WebAssembly.Module)
      throw new TypeError(`The module of ${name} is compiled, and does not reach the isolates here: give its bytes.`);
    return wasiRunner(prepareCommand(name, command), isolates, files);
  };
  return new Map(Object.entries(commands).map(([name, command]) => [name, runnerOf(name, command)]));
}

/** The first broker that serves files. */
export function filesOf(brokers: readonly Broker[]): Broker | undefined {
  return brokers.find(({ families }) => families.includes(fsRead));
}
