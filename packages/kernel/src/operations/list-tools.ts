import type { Core } from "../call/pipeline.ts";
import type { ToolFilter, ToolSummary } from "../tool/summary.ts";
import { isCallable } from "../policy/decision/callable.ts";

/** Sorted by name, then by version, highest first. */
export function listTools(
  filter: ToolFilter | undefined,
  { registry, pools, revocations, authority }: Pick<Core, "registry" | "pools" | "revocations" | "authority">,
): readonly ToolSummary[] {
  const quarantined = new Map([...pools.values()].flatMap((pool) => [...pool.quarantined]));
  const caller = filter?.caller;
  return registry.list(filter).flatMap((summary) => {
    const { name, version } = summary.manifest;
    const tool = caller === undefined ? undefined : registry.find(name, version);
    if (caller !== undefined && tool && !isCallable(tool, caller, authority(), revocations)) return [];
    const quarantine = quarantined.get(summary.hash);
    return quarantine ? { ...summary, quarantine } : summary;
  });
}
