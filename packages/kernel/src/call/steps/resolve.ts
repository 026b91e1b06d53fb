import type { BoundName } from "../../bounds/bounds.ts";
import type { IsolateHost } from "../../isolate/port.ts";
import { hostOf } from "../../isolate/port.ts";
import type { Revocations } from "../../capability/revocation.ts";
import type { Policy } from "../../policy/document/make.ts";
import type { Mode } from "../../tool/manifest.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import type { Registry } from "../../tool/registry.ts";
import { isCallable } from "../../policy/decision/callable.ts";
import { CallFault } from "../faults/fault.ts";
import * as texts from "../faults/texts.ts";
import { type OptionQuestion, unanswered } from "../questions.ts";
import type { CallRecord } from "../record/record.ts";

/**
 * The mark of this step. A private name is in no literal, and a spread leaves it behind; the class
 * exists for the compiler alone. So the one cast below alone makes the state.
 */
declare class Made {
  #resolve: never;
}
/** A call whose tool is known and can run here. */
export interface Resolved extends Made {
  readonly call: CallRecord;
  readonly tool: RegisteredTool;
  readonly host: IsolateHost;
  /** The host stops the tool at a bound of fuel. */
  readonly isMetered: boolean;
}

export interface ResolvePorts {
  /** Options of a call that an extension of this kernel honours. */
  readonly honoured: ReadonlySet<OptionQuestion>;
  readonly registry: Registry;
  readonly hosts: readonly IsolateHost[];
  /** For hints: each names to a caller what `kernel.list({ caller })` does. */
  readonly authority: () => { readonly policy: Policy; readonly mode: Mode };
  readonly revocations: Pick<Revocations, "track" | "reasonFor">;
}

/** Bounds that only some hosts can hold. A tool or a caller that sets one wants it held. */
const hostBounds = ["cpuMs", "memoryBytes", "fuel"] as const satisfies readonly BoundName[];

/** Step 1. */
export function resolve(
  call: CallRecord,
  { registry, hosts, honoured, authority, revocations }: ResolvePorts,
): Resolved {
  const { fault } = call;
  if (fault) throw new CallFault("INVALID_INPUT", { hint: texts.correctOptions, ...fault });
  const { idempotencyKey } = call.options;
  if (idempotencyKey !== undefined && !honoured.has("idempotencyKey")) throw unanswered("idempotencyKey");
  const found = registry.resolve(call.toolName, call.options.version, (known) =>
    isCallable(known, call.caller, authority(), revocations),
  );
  if (!found.ok) throw new CallFault("TOOL_NOT_FOUND", texts.notFound(call.toolName, found));
  const { tool } = found;
  const { source, output } = tool.manifest;
  if (call.output && output.kind !== "stream")
    throw new CallFault("INVALID_INPUT", texts.noStream(tool.id, output.kind));
  const host = hostOf(tool, hosts);
  if (!host) throw new CallFault("UNSUPPORTED_HOST", texts.noHost(source));
  const isMetered = enforcedFor(call, tool, host).includes("fuel");
  return call.reach({ call, tool, host, isMetered } as Resolved);
}

/** @throws CallFault where the host does not hold a bound of the tool or the caller */
function enforcedFor({ options }: CallRecord, { id, manifest }: RegisteredTool, host: IsolateHost): readonly string[] {
  const enforced = typeof host.enforces === "function" ? host.enforces(manifest) : host.enforces;
  const missing = hostBounds.filter(
    (name) => (manifest.bounds[name] ?? options.bounds?.[name]) !== undefined && !enforced.includes(name),
  );
  if (missing.length > 0) throw new CallFault("UNSUPPORTED_HOST", texts.unenforced(host.name, id, missing));
  return enforced;
}
