import type { Core } from "../call/pipeline.ts";
import { knownOptions } from "../json/known-options.ts";
import type { ToolFilter, ToolSummary } from "../tool/summary.ts";
import { isCallable } from "../policy/decision/callable.ts";

const names = { mode: true, category: true, tier: 0, effect: true, text: true, caller: true } as const;

/** Sorted by name, then by version, highest first. */
export function listTools(
  filter: ToolFilter | undefined,
  { registry, backoff, revocations, authority }: Pick<Core, "registry" | "backoff" | "revocations" | "authority">,
): readonly ToolSummary[] {
  const { quarantined } = backoff;
  const known = filter && knownOptions(filter, names, "A list of tools");
  const caller = known?.caller;
  return registry.list(known).flatMap((summary) => {
    const { name, version } = summary.manifest;
    const tool = caller === undefined ? undefined : registry.find(name, version);
    if (caller !== undefined && tool && !isCallable(tool, caller, authority(), revocations)) return [];
    const quarantine = quarantined.get(summary.hash);
    return quarantine ? { ...summary, quarantine } : summary;
  });
}
