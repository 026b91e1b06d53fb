import type { LoadedCapability, OfKind, OwnNeed } from "./family.ts";
import { declares, gives, type Grant } from "./grant.ts";

/** Why a call may not do something. */
export type DenialReason =
  /** The tool's manifest does not declare it. */
  | "undeclared"
  /** The policy does not grant it. */
  | "not-granted"
  /** The policy grants it, and the call's own `grants` leave it out. */
  | "narrowed"
  /** The policy grants it now, and did not at the suspension. */
  | "not-held"
  /** A grant covers it, and a rule or a list of the policy forbids it. */
  | "forbidden"
  | "revoked";

const reasons: Readonly<Record<DenialReason, true>> = {
  undeclared: true,
  "not-granted": true,
  narrowed: true,
  "not-held": true,
  forbidden: true,
  revoked: true,
};

export function isDenialReason(text: string): text is DenialReason {
  return Object.hasOwn(reasons, text);
}

/** The holder of a grant. */
export interface GrantHolder {
  /** Name of the tool. */
  readonly tool: string;
  readonly caller: string;
  /**
   * Whether its layers are the policy's grants, then the options of the call. Further layers are
   * from before a suspension.
   */
  readonly hasOwnGrants: boolean;
}

/** Which layer of a grant leaves something out, and what an operator can do about that. */
export interface Denial {
  readonly reason: Exclude<DenialReason, "forbidden" | "revoked">;
  /** The capabilities of the kind in the layer. */
  readonly granted: readonly LoadedCapability[];
  readonly operatorHint: string;
}

/** Some layer leaves it out. */
export interface LayerDenial extends Denial {
  readonly reason: Exclude<Denial["reason"], "undeclared">;
}

/** Of a need that the grant does not cover. */
export function denialOf(grant: Grant, need: OwnNeed, holder: GrantHolder): Denial {
  const wanted = need.narrowest()?.json;
  if (declares(grant, need)) return leftOut(grant, need.kind, holder, wanted, (layer) => gives(layer, need));
  const operatorHint = `Declare it in \`capabilities\` of the tool's manifest${shown(wanted)} A grant gives no more than the tool declares.`;
  return { reason: "undeclared", granted: [], operatorHint };
}

/**
 * The denial of a kind without any remaining capability.
 *
 * @param wanted the first needed capability, where it is known
 */
export function denialOfKind(grant: Grant, kind: string, holder: GrantHolder, wanted: OfKind | undefined): LayerDenial {
  return leftOut(grant, kind, holder, wanted, (layer) => layer.some((capability) => capability.kind === kind));
}

/** Before a grant that the policy lacks. */
export const addToPolicy = "Add it to the grants of the policy";

type Layer = readonly LoadedCapability[];

function leftOut(
  { layers: [policy = [], ...others] }: Grant,
  kind: string,
  { tool, caller, hasOwnGrants }: GrantHolder,
  wanted: OfKind | undefined,
  isIn: (layer: Layer) => boolean,
): LayerDenial {
  const ofKind = (layer: Layer): Layer => layer.filter((capability) => capability.kind === kind);
  const [own, before] = hasOwnGrants ? [others[0], others.slice(1)] : [undefined, others];
  const isOwnTooNarrow = own !== undefined && !isIn(own);
  if (!isIn(policy)) {
    const grant = wanted && { tool, caller, capability: wanted };
    const also = isOwnTooNarrow ? " The call's own `grants` leave it out as well." : "";
    const hint = grant ? `${addToPolicy}: ${JSON.stringify(grant)}` : addKind(kind, "the grants of the policy");
    const operatorHint = `${hint}${also}`;
    return { reason: "not-granted", granted: ofKind(policy), operatorHint };
  }
  if (own && isOwnTooNarrow) {
    const place = "the call's `grants`";
    const hint = wanted ? `Add it to ${place}: ${JSON.stringify(wanted)}` : addKind(kind, place);
    const operatorHint = `The policy grants it. ${hint}`;
    return { reason: "narrowed", granted: ofKind(own), operatorHint };
  }
  const held = before.find((layer) => !isIn(layer)) ?? [];
  return { reason: "not-held", granted: ofKind(held), operatorHint: "The policy grants it now: repeat the call." };
}

function addKind(kind: string, place: string): string {
  return `Add ${kind} to ${place}, with no more than the tool needs.`;
}

function shown(what: object | undefined): string {
  return what ? `: ${JSON.stringify(what)}.` : ".";
}

/** For the model. */
export function grantedText({ kind }: OwnNeed, granted: readonly LoadedCapability[]): string {
  return granted.length > 0
    ? `Granted: ${granted
        .map((each) => each.describe())
        .join("; ")
        .slice(0, 500)}.`
    : `This call has no grant of kind ${kind}.`;
}
