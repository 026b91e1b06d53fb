import type { AuditEvent, AuditPayloads, DeclaredCapability, GrantRule, ToolSummary } from "@keyhole/kernel";
import { capabilityText } from "../app/capability-words.ts";
import { isKnown } from "@keyhole/worker-host/edge-protocol";
import type { Wanted } from "./wanted.ts";

type Use = Pick<AuditPayloads["capability.used"], "index" | "kind" | "operation" | "target">;

/** One way through the wall: the possible access of the call there, and its requests. */
export interface Opening {
  /** Kind of the capability, such as `net.read`. */
  readonly kind: string;
  /** How far the grant reaches; the tool's wish where the grant is not known. */
  readonly scope: string;
  /** `unasked`: there is no decision. */
  readonly state: "used" | "open" | "stopped" | "closed" | "unasked";
  readonly isGranted: boolean;
  /** It reaches everything of its kind, or much of it. */
  readonly isWide: boolean;
  readonly crossed: readonly Use[];
  /** Refused at the wall. */
  readonly stopped: readonly Use[];
  /** Let through, and failed outside. */
  readonly failed: readonly Use[];
}

/**
 * The access of a call, and its use, from its own events. Nested calls have pictures of their own.
 *
 * @param grants of the policy that decided; `undefined` where it is not known
 * @param wanted the accesses whose absence ended the call, or kept it from its start
 */
export function openingsOf(
  { manifest }: ToolSummary,
  events: readonly AuditEvent[],
  grants: readonly GrantRule[] | undefined,
  wanted: readonly Wanted[] = [],
): readonly Opening[] {
  const own = events.filter(({ callId }) => callId === events[0]?.callId).filter(isKnown);
  const checked = own.find((event) => event.type === "capability.checked")?.payload;
  const uses = own.flatMap((event) => (event.type === "capability.used" ? [event.payload] : []));
  const wishes = Map.groupBy<string, DeclaredCapability>(manifest.capabilities, ({ kind }) => kind);
  const kept = uses.some(({ outcome }) => outcome === "refused") ? [] : wanted.map(keptOf);
  const kinds = new Set([...wishes.keys(), ...[...uses, ...kept].map(({ kind }) => kind)]);
  return Array.from(kinds, (kind) => {
    const crossings = uses.filter((use) => use.kind === kind);
    const isGranted = checked?.granted.some((each) => each === kind || each.startsWith(`${kind} `));
    const reach = reachOf(wishes.get(kind) ?? [], granted(grants, manifest.name, kind));
    const crossed = crossings.filter(({ outcome }) => outcome === "ok");
    const refused = crossings.filter(({ outcome }) => outcome === "refused");
    const stopped = [...refused, ...kept.filter((use) => use.kind === kind)];
    const failed = crossings.filter(({ outcome }) => outcome === "failed");
    const state = stateOf(isGranted, crossed.length + failed.length, stopped.length);
    return { kind, ...reach, state, isGranted: isGranted === true, crossed, stopped, failed };
  });
}

/** The tool never made it: its arguments name it. */
function keptOf({ kind, target }: Wanted, at: number): Use {
  return { index: -1 - at, kind, operation: "", target };
}

function stateOf(isGranted: boolean | undefined, through: number, stopped: number): Opening["state"] {
  if (through > 0) return "used";
  if (stopped > 0) return "stopped";
  if (isGranted === undefined) return "unasked";
  return isGranted ? "open" : "closed";
}

function granted(
  grants: readonly GrantRule[] | undefined,
  tool: string,
  kind: string,
): readonly DeclaredCapability[] | undefined {
  return grants
    ?.filter((grant) => grant.capability.kind === kind && (grant.tool === tool || grant.tool === "*"))
    .map(({ capability }) => capability);
}

function reachOf(
  wishes: readonly DeclaredCapability[],
  given: readonly DeclaredCapability[] | undefined,
): Pick<Opening, "scope" | "isWide"> {
  const shown = given === undefined || given.length === 0 ? wishes : given;
  const scope = shown.map((each) => withoutKind(capabilityText(each), each.kind)).join("; ");
  return { scope, isWide: shown.some((each) => JSON.stringify(each).includes("*")) };
}

function withoutKind(text: string, kind: string): string {
  return text.startsWith(`${kind} `) ? text.slice(kind.length + 1) : text === kind ? "" : text;
}
