import type { LoadedCapability, OwnNeed } from "../capability/family.ts";
import type { Families } from "../capability/registry.ts";
import type { JsonValue } from "../json/json.ts";
import { compilePointer, type ReadPointer } from "../json/pointer.ts";
import type { ToolManifest } from "./manifest.ts";

/** Arguments of a tool that name the target of its requests, as its manifest says. */
export interface TargetArguments {
  readonly capability: LoadedCapability;
  readonly parts: readonly { readonly name: string; readonly at: string; readonly read: ReadPointer }[];
}

/** A target that the arguments of one call name. The call makes at least one of these requests. */
export interface Target {
  readonly kind: string;
  readonly needs: readonly [OwnNeed, ...OwnNeed[]];
}

/** An argument that names no target. */
export interface TargetFault {
  /** JSON Pointer of the argument. */
  readonly at: string;
  readonly message: string;
}

/** Of a manifest that was checked. */
export function targetArguments(
  { capabilities }: Pick<ToolManifest, "capabilities">,
  families: Families,
): readonly TargetArguments[] {
  return capabilities.flatMap(({ optional: _, target, ...own }) => {
    if (!target) return [];
    const parts = Object.entries(target).map(([name, at]) => ({ name, at, read: compilePointer(at) }));
    return families.known([own]).map((capability) => ({ capability, parts }));
  });
}

const none: readonly Target[] = [];

/** The targets in an input that was validated, with its defaults. Each argument is read once. */
export function targetsIn(
  input: JsonValue,
  named: readonly TargetArguments[],
): { readonly ok: true; readonly targets: readonly Target[] } | { readonly ok: false; readonly fault: TargetFault } {
  const targets: Target[] = [];
  for (const { capability, parts } of named) {
    const { kind } = capability;
    const found = parts.map(({ name, at, read }) => ({ name, at, value: read(input) ?? undefined }));
    // An optional argument that is not there: the call names no target of this kind.
    if (found.some(({ value }) => value === undefined)) continue;
    const wrong = found.find(({ value }) => typeof value !== "string");
    if (wrong) return { ok: false, fault: faultOf(wrong.at, kind, "The value is not a string.") };
    const needs = capability.needsTo(Object.fromEntries(found.map(({ name, value }) => [name, value as string])));
    if (typeof needs === "string") return { ok: false, fault: faultOf(found[0]!.at, kind, needs) };
    const [first, ...others] = needs;
    if (first) targets.push({ kind, needs: [first, ...others] });
  }
  return { ok: true, targets: targets.length === 0 ? none : targets };
}

function faultOf(at: string, kind: string, reason: string): TargetFault {
  return { at, message: `The argument ${at} cannot name a target of ${kind}. ${reason}` };
}

/** The kinds without which a call cannot run, each once: the tool always needs them, or the arguments name a target of them. */
export function neededKinds(
  { capabilities }: Pick<ToolManifest, "capabilities">,
  targets: readonly Pick<Target, "kind">[],
): readonly string[] {
  const needed: string[] = [];
  for (const { optional, kind } of capabilities)
    if (!needed.includes(kind) && (!optional || targets.some((each) => each.kind === kind))) needed.push(kind);
  return needed;
}
