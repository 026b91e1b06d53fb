import type { AttemptGroup } from "./attempt.ts";
import { bodyGuests } from "./body-guest.ts";
import { frameNetwork } from "./frame-network.ts";
import { frameWorld } from "./frame-world.ts";
import { guests } from "./guest.ts";
import { outputs, spins } from "./output.ts";
import { framePairs, toolPairs } from "./pairs.ts";
import { streamGuests } from "./stream-guest.ts";
import { toolCode, toolImports, toolNames } from "./tool-names.ts";
import { toolShell, toolSources } from "./tool-shell.ts";

/** The whole battery. */
export const groups: readonly AttemptGroup[] = [
  frameNetwork,
  frameWorld,
  toolNames,
  toolCode,
  toolImports,
  toolShell,
  toolSources,
  outputs,
  guests,
  streamGuests,
  bodyGuests,
  framePairs,
  toolPairs,
  spins,
];
