import type { EarlierEvents } from "../audit/earlier-events.ts";
import type { Core } from "../call/pipeline.ts";
import type { Mode } from "../tool/manifest.ts";
import { listTools } from "./list-tools.ts";

/** How a kernel is, at this moment. */
export interface KernelHealth {
  /** `ready`: it serves calls. `limited`: it serves calls, and some are refused for one of the `reasons`. `unavailable`: it runs nothing. */
  readonly state: "ready" | "limited" | "unavailable";
  /** Sentences for an operator; empty where the state is `ready`. */
  readonly reasons: readonly string[];
  readonly mode: Mode;
  readonly policyHash: string;
  readonly log: {
    /** `false` once the sink failed. */
    readonly isWritable: boolean;
    /** The log ends with the process, and so do limits, labels, revocations, keys and approvals: after a restart they begin anew. */
    readonly isVolatile: boolean;
    /** Recorded events that are not yet durable. */
    readonly backlogEvents: number;
    /** The progress of the check of earlier events. */
    readonly earlier: EarlierEvents;
  };
  /** Calls that have begun and not ended: running, waiting or suspended. */
  readonly openCalls: number;
  /** `name@version` of each tool whose isolates are not opened for one caller or more. */
  readonly quarantined: readonly string[];
}

type HealthParts = Pick<Core, "log" | "registry" | "backoff" | "revocations" | "authority">;

/** Runs nothing, records nothing, and waits for nothing. */
export function kernelHealth(parts: HealthParts): KernelHealth {
  const { log, authority } = parts;
  const { mode, policy } = authority();
  const tools = listTools(undefined, parts);
  const quarantined = tools.filter((tool) => tool.quarantine !== undefined).map(({ id }) => id);
  const reasons = [
    ...(log.writable ? [] : ["The kernel cannot write the log. Open the kernel again: until then no call runs."]),
    ...(log.earlier.state === "damaged" ? ["The log has changed since the kernel wrote it."] : []),
    ...(mode === "NORMAL" ? [] : [`The mode is ${mode}.`]),
    ...quarantined.map((id) => `${id} is in quarantine.`),
  ];
  return {
    state: log.writable ? (reasons.length === 0 ? "ready" : "limited") : "unavailable",
    reasons,
    mode,
    policyHash: policy.hash,
    log: {
      isWritable: log.writable,
      isVolatile: log.isVolatile,
      backlogEvents: log.backlog,
      earlier: log.earlier.state,
    },
    openCalls: log.openCalls,
    quarantined,
  };
}
