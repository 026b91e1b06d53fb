import { IsolateFailure } from "@keyhole/kernel";
import type { LoadOutcome } from "./channel.ts";

/** Of a module that did not load: by its own word, or because it ended its isolate or took too long. */
export function loadFailure(id: string, loaded: Exclude<LoadOutcome, { kind: "loaded" }>): IsolateFailure {
  const [reason, blame] =
    loaded.kind === "failed"
      ? ([`${loaded.name}: ${loaded.message}`, "code"] as const)
      : ([loaded.reason, "tool"] as const);
  return new IsolateFailure("TOOL_ERROR", `The module of ${id} failed to load: ${reason}.`, {}, blame);
}
