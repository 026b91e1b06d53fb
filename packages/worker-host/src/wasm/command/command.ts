import { checkCommand } from "@keyhole/kernel";
import { knownOptions } from "@keyhole/kernel/foreign";
import type { LoadedModule } from "../../protocol/message.ts";
import { readMeterSection } from "../meter/meter-section.ts";
import { MAX_FUEL } from "../meter/fuel-global.ts";
import { defaultMemoryBytes, prepare } from "../tool/prepare.ts";

/** A module of WebAssembly that a host offers as a command: a WASI command (preview 1). */
export interface WasiCommand {
  /** Its bytes. Or, for a host that runs commands on its own thread, the module that the build has metered (`?metered`). */
  readonly module: Uint8Array | WebAssembly.Module;
  /** Its whole environment. Default: empty. */
  readonly env?: Readonly<Record<string, string>>;
  /** Fuel of one run. Default 10,000,000,000: about a second of an ordinary machine. */
  readonly fuel?: number;
  /** Memory of one run. Default 64 MiB. */
  readonly memoryBytes?: number;
}

/** A command that was found to be one. */
export interface PreparedCommand {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  readonly fuel: number;
  readonly memoryBytes: number;
  /** The module that the isolate loads. */
  readonly module: LoadedModule;
}

/** The same on every host, so that a run that reaches it ends at the same place. */
const DEFAULT_FUEL = 10_000_000_000;

/** @throws {TypeError} for a name that is none, a module that cannot be a command, and variables that no program could be given */
export function prepareCommand(name: string, command: WasiCommand): PreparedCommand {
  const {
    module,
    env = {},
    fuel = DEFAULT_FUEL,
    memoryBytes = defaultMemoryBytes,
  } = knownOptions(command, { module: true, env: true, fuel: 1, memoryBytes: 1 }, `The command ${name}`);
  const fault = checkCommand(name) ?? variablesFault(env) ?? fuelFault(fuel);
  if (fault !== undefined) throw new TypeError(`${JSON.stringify(name)}: ${fault}.`);
  const loaded = { module: meteredOf(name, module, memoryBytes), args: [], environment: {}, memoryBytes };
  return { name, env: { ...env }, fuel, memoryBytes, module: loaded };
}

function meteredOf(name: string, module: WasiCommand["module"], memoryBytes: number): LoadedModule["module"] {
  if (module instanceof WebAssembly.Module) {
    if (readMeterSection(module) === undefined)
      throw new TypeError(`This version of Keyhole did not meter the module of ${name}.`);
    if (WebAssembly.Module.exports(module).some((each) => each.name === "_start")) return module;
    throw notACommand(name);
  }
  // A copy: the metered bytes run, also if the owner changes the original.
  const prepared = prepare(new Uint8Array(module), memoryBytes);
  if (!prepared.ok) throw new TypeError(`${name}: ${prepared.error.message}`);
  if (prepared.isCommand) return prepared.bytes;
  throw notACommand(name);
}

function notACommand(name: string): TypeError {
  return new TypeError(`The module of ${name} is not a command: it does not export \`_start\`.`);
}

function variablesFault(env: Readonly<Record<string, string>>): string | undefined {
  const isVariable = ([name, value]: [string, unknown]): boolean =>
    name !== "" && !/[=\0]/.test(name) && typeof value === "string" && !value.includes("\0");
  return Object.entries(env).every(isVariable) ? undefined : "a variable is a name without `=`, and a text";
}

const fuelFault = (fuel: number): string | undefined =>
  fuel <= MAX_FUEL ? undefined : `fuel is at most ${MAX_FUEL}, not ${fuel}`;
