import { bringExplanations } from "../capability/next-steps.ts";
import type { Families } from "../capability/registry.ts";
import { deepFreeze } from "../json/freeze.ts";
import type { JsonValue } from "../json/json.ts";
import * as limits from "../limits.ts";
import type { Setup, SetupError } from "../result.ts";
import type { OwnValidator } from "../schema/types.ts";
import { requireValidator } from "../schema/compile-own.ts";
import { hasOwn, present } from "../support/guards.ts";
import { argumentFault } from "./argument-place.ts";
import type { DeclaredCapability, OutputContract, ToolManifest } from "./manifest.ts";
import { manifestExcess } from "./manifest-excess.ts";
import { manifestSchema } from "./manifest-schema.ts";
import { quote, refused } from "./refused.ts";
import { parseVersion } from "../support/semver.ts";

const validators = /* @__PURE__ */ new WeakMap<Families, OwnValidator>();

function validatorOf(families: Families): OwnValidator {
  const validator =
    validators.get(families) ??
    requireValidator(manifestSchema(families), { ...families.schemaParts, defaults: "ignore" });
  validators.set(families, validator);
  return validator;
}

/** The manifest of a package, as plain data. */
export function checkManifest(own: JsonValue, families: Families): Setup<ToolManifest> {
  const excess = manifestExcess(own);
  if (excess) return refused("", excess);
  const unknown = families.unknownIn(own, "capabilities");
  if (unknown) return refused(unknown.path, unknown.message, unknown.hint);
  const valid = validatorOf(families).validateOwn(own);
  if (!valid.ok) {
    const { instancePath, message, hint } = present(valid.errors[0]);
    return refused(instancePath, message, families.schemaParts.explain ? hint : bringExplanations);
  }
  const manifest = valid.value as ToolManifest;
  if (!parseVersion(manifest.version)) return refused("/version", `${quote(manifest.version)} is not SemVer 2.0.0.`);
  for (const [index, capability] of manifest.capabilities.entries()) {
    const fault = capabilityFault(capability, manifest, families);
    if (fault) return refused(`/capabilities/${index}${fault.path}`, fault.message, fault.hint);
  }
  for (const [part, kind] of onlyOf)
    if (Object.hasOwn(manifest.output, part) && manifest.output.kind !== kind)
      return refused(`/output/${part}`, `Only an output of kind ${kind} has a \`${part}\`.`);
  if (manifest.output.kind === "stream" && manifest.normalization)
    return refused("/normalization", "The kernel hashes a stream as it is, while it flows.");
  if (manifest.source !== "inline" && manifest.source !== "module") {
    const { source, output, body } = manifest;
    if (output.kind === "stream")
      return refused("/output/kind", `A tool of source ${source} buffers its output, so it cannot stream.`);
    if (body) return refused("/body", `A tool of source ${source} buffers its input, so it cannot have a body.`);
  }
  if (manifest.output.kind !== "stream" && (manifest.bounds.outputBytes ?? 0) > limits.wholeOutputBytes) {
    const most = `An output of kind ${manifest.output.kind} is buffered and has at most ${limits.wholeOutputBytes} bytes.`;
    return refused("/bounds/outputBytes", most, "Return a stream.");
  }
  if (manifest.determinism === "pure" && (manifest.effects.length > 0 || manifest.capabilities.length > 0))
    return refused("/determinism", "A pure tool has no effects and no capabilities.");
  // Every later call shares it: no party may change it after its hash.
  return { ok: true, value: deepFreeze(manifest) };
}

/** Parts of an output contract that would hold nothing beside any other kind. */
const onlyOf = [
  ["schema", "json"],
  ["transfer", "binary"],
] as const satisfies readonly (readonly [keyof OutputContract, OutputContract["kind"]])[];

type Fault = Pick<SetupError, "path" | "message"> & { readonly hint?: string };

function capabilityFault(
  { optional: _, target = {}, ...capability }: DeclaredCapability,
  { effects, input }: ToolManifest,
  families: Families,
): Fault | undefined {
  const loaded = families.load(capability);
  if (!hasOwn(loaded, "kind")) return loaded;
  const { kind, family } = loaded;
  if (family.effect !== "none" && !effects.some((each) => each === kind))
    return { path: "", message: `The capability ${kind} is an effect that \`effects\` does not list.` };
  for (const [part, pointer] of Object.entries(target)) {
    const fault = argumentFault(input, pointer);
    if (fault === undefined) continue;
    const message = `The target's ${part} cannot be at ${quote(pointer)}: ${fault}.`;
    return { path: `/target/${part}`, message, hint: "Name an argument of the input whose value is a text." };
  }
  return undefined;
}
