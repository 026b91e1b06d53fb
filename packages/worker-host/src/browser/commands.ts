import type { IsolateHost } from "@keyhole/kernel";
import type { SpawnLimits } from "../brokers/spawn.ts";
import { withCommands } from "../process/tool.ts";
import type { WasiCommand } from "../wasm/command/command.ts";
import { wasiRunners, type WasiPlace } from "../wasm/command/index.ts";
import { COMMAND_FRAMES } from "./worker-pool.ts";

/** Adds WASI commands that run in frames of their own. @throws TypeError for a command whose name is none or whose module cannot be one */
export function offerCommands(
  host: IsolateHost,
  commands: Readonly<Record<string, WasiCommand>>,
  place: Pick<WasiPlace, "open" | "files">,
  limits: SpawnLimits | undefined,
): IsolateHost {
  return withCommands(host, wasiRunners(commands, { ...place, places: COMMAND_FRAMES, compiled: false }), limits);
}
