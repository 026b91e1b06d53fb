import type { Replay } from "@keyhole/kernel/replay";

/** How far the replay of the file is that was opened last. */
export type Played =
  | { readonly state: "idle" | "running" }
  | { readonly state: "done"; readonly replay: Replay }
  | { readonly state: "failed"; readonly reason: string };
