import type { EventRecorder } from "../../audit/log.ts";
import { denialOfKind, type GrantHolder, type LayerDenial } from "../../capability/denial.ts";
import type { OfKind } from "../../capability/family.ts";
import { attenuate, type Grant, grantOf } from "../../capability/grant.ts";
import { type Holder, type Revocations, withRevocations } from "../../capability/revocation.ts";
import type { Clock } from "../../isolate/clock.ts";
import type { Policy } from "../../policy/document/make.ts";
import type { Mode } from "../../tool/manifest.ts";
import type { RegisteredTool } from "../../tool/package.ts";
import { neededKinds } from "../../tool/targets.ts";
import { CallFault } from "../faults/fault.ts";
import * as texts from "../faults/texts.ts";
import { authorityPart, type CarriedPart } from "../record/carried-part.ts";
import type { CallRecord } from "../record/record.ts";
import { recordDecision } from "./prove.ts";
import type { Validated } from "./validate.ts";

declare class Made {
  #checkGrants: never;
}
/** A call with its grant, and with the authority that gave it. */
export interface Granted extends Validated, Made {
  readonly grant: Grant;
  readonly policy: Policy;
  readonly mode: Mode;
}

/** The policy and the mode during one decision. */
export interface Authority {
  readonly policy: Policy;
  readonly mode: Mode;
}

/**
 * The real sources (`clock`, `random`) that the isolate of a started call reads without a request.
 */
export const realPart: CarriedPart<readonly string[]> = { name: "real" };

export interface GrantPorts {
  /** The present policy and mode: both change while calls run. */
  readonly authority: () => Authority;
  readonly revocations: Pick<Revocations, "track" | "reasonFor">;
  readonly log: EventRecorder;
  readonly clock: Clock;
}

/** Step 3. */
export function checkGrants(state: Validated, ports: GrantPorts): Granted {
  const { call, tool } = state;
  const { policy, mode } = ports.authority();
  const grant = narrowed(grantFor(policy, tool, call), call, { policy, mode });
  const { kinds } = grant;
  const missing = neededKinds(tool.manifest, state.targets).filter((kind) => !kinds.includes(kind));
  ports.log.record("capability.checked", call.scope, { grantHash: grant.hash, granted: kinds, missing });
  const granted = call.reach({ ...state, grant, policy, mode } as Granted);
  if (missing.length > 0) throw ungranted(granted, missing, ports);
  assertUnrevoked(granted, ports);
  assertStillReal(granted, ports);
  if (call.isSuspendable) call.carry(authorityPart, { policyHash: policy.hash, mode, layers: dataOf(grant) });
  return granted;
}

/** A grant can only shrink: by what the caller names, and by what a resumed call had. */
function narrowed(given: Grant, call: CallRecord, authority: Authority): Grant {
  const { grants } = call.options;
  if (grants === undefined && !call.before) return given;
  const layers = [...(grants ? [grants] : noLayers), ...carriedLayers(call, authority)];
  const { families } = authority.policy;
  return layers.reduce((held, layer) => attenuate(held, families.known(layer), call.hash), given);
}

function ungranted(state: Granted, missing: readonly string[], ports: GrantPorts): CallFault {
  const { call, tool } = state;
  call.decided(recordDecision(state, { decision: "deny", reasonCode: "capability-denied" }, ports));
  const { grant, targets } = state;
  const holder = grantHolderOf(call, tool);
  const denialOf = (kind: string, wanted: OfKind | undefined): LayerDenial => denialOfKind(grant, kind, holder, wanted);
  return new CallFault("CAPABILITY_DENIED", texts.ungranted({ tool, targets, holder, missing, denialOf }));
}

/** For the errors about its grant. */
export function grantHolderOf({ caller, options }: CallRecord, { manifest }: RegisteredTool): GrantHolder {
  return { tool: manifest.name, caller, hasOwnGrants: options.grants !== undefined };
}

/** Throws for a call that needs a revoked grant. */
export function assertUnrevoked(state: Granted, ports: Pick<GrantPorts, "revocations" | "log" | "clock">): void {
  const revoked = revokedFor(state, ports.revocations);
  if (!revoked) return;
  state.call.decided(recordDecision(state, { decision: "deny", reasonCode: "revoked" }, ports));
  throw new CallFault("CAPABILITY_DENIED", texts.grantRevoked(state.tool.id, revoked));
}

/** The first capability that the call cannot do without, and that is revoked. */
export function revokedFor(
  { call, tool, targets }: Granted,
  revocations: Pick<Revocations, "track" | "reasonFor">,
): { readonly kind: string; readonly reason: string } | undefined {
  const own = withRevocations(revocations, call.revocations);
  for (const kind of neededKinds(tool.manifest, targets)) {
    const reason = own.reasonFor(holderOf(call, tool), kind);
    if (reason !== undefined) return { kind, reason };
  }
  return undefined;
}

/**
 * A resumed isolate still reads the real clock that it had, so the kernel refuses the resume when
 * that grant is gone.
 */
function assertStillReal({ call, tool, grant }: Granted, { revocations }: GrantPorts): void {
  const own = withRevocations(revocations, call.revocations);
  const gone = call
    .came(realPart)
    ?.find((kind) => !grant.kinds.includes(kind) || own.reasonFor(holderOf(call, tool), kind) !== undefined);
  if (gone === undefined) return;
  throw new CallFault("CAPABILITY_DENIED", texts.realEnded(tool.id, gone));
}

/** The holder of a call's grants. */
export function holderOf({ callId, caller, sessionId, parent }: CallRecord, tool: RegisteredTool): Holder {
  return { callId, caller, sessionId, tool: tool.manifest.name, parentCallId: parent?.call.callId };
}

/** By tool hash, then by caller: put together, the two would be one long text to hash in each call. */
const grantsOf = new WeakMap<Policy, Map<string, Map<string, Grant>>>();
/** Names of callers are untrusted: the kernel keeps a bounded number of grants per tool. */
const MAX_GRANTS = 1_000;

/**
 * The grant of a policy to one caller for one tool. Policies never change, so the kernel hashes it
 * once, not in each call.
 */
function grantFor(policy: Policy, tool: RegisteredTool, { caller, hash }: CallRecord): Grant {
  let byTool = grantsOf.get(policy);
  if (!byTool) grantsOf.set(policy, (byTool = new Map<string, Map<string, Grant>>()));
  let known = byTool.get(tool.hash);
  if (!known) byTool.set(tool.hash, (known = new Map<string, Grant>()));
  let grant = known.get(caller);
  if (!grant) {
    grant = grantOf(tool.declared, [policy.grants(tool.manifest.name, caller)], hash);
    if (known.size >= MAX_GRANTS) known.clear();
    known.set(caller, grant);
  }
  return grant;
}

type LayerData = readonly (readonly OfKind[])[];
const noLayers: LayerData = [];

function dataOf({ layers }: Grant): LayerData {
  return layers.map((layer) => layer.map(({ json }) => json));
}

/** Under another policy or mode than before it was suspended, a call that ran gets no more than it had. */
function carriedLayers(call: CallRecord, { policy, mode }: Authority): LayerData {
  const before = call.hasStarted ? call.came(authorityPart) : undefined;
  return before && (before.policyHash !== policy.hash || before.mode !== mode) ? before.layers : noLayers;
}
