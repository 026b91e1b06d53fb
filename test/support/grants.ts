import {
  blake3Hash,
  builtInFamilies,
  type Capability,
  type FilesCapability,
  type Need,
  type NetCapability,
} from "@keyhole/kernel";
import type { LoadedCapability, OwnNeed, Reading } from "../../packages/kernel/src/capability/family.ts";
import * as kernel from "../../packages/kernel/src/capability/grant.ts";

/*
 * Capabilities and needs as plain data, of the kernel's own families.
 */

/** Reads of one host. */
export const net = (more: Partial<NetCapability> = {}): NetCapability => ({
  kind: "net.read",
  hosts: ["example.com"],
  ...more,
});
/** Reads of one folder. */
export const files = (more: Partial<FilesCapability> = {}): FilesCapability => ({
  kind: "fs.read",
  paths: ["docs/**"],
  ...more,
});

function loaded(capabilities: readonly Capability[]): readonly LoadedCapability[] {
  return builtInFamilies.known(capabilities);
}

export function needOf(need: Need): OwnNeed {
  return builtInFamilies.need(need);
}

export function grantOf(declared: readonly Capability[], layers: readonly (readonly Capability[])[]): kernel.Grant {
  return kernel.grantOf(loaded(declared), layers.map(loaded), blake3Hash);
}

export function attenuate(grant: kernel.Grant, layer: readonly Capability[]): kernel.Grant {
  return kernel.attenuate(grant, loaded(layer), blake3Hash);
}

export function covers(grant: kernel.Grant, need: Need): boolean {
  return kernel.covers(grant, needOf(need));
}

export function capabilityCovers(capability: Capability, need: Need, reading: Reading): boolean {
  return loaded([capability]).some((each) => each.covers(needOf(need), reading));
}

/** The narrowest capability that a refusal of this need suggests. */
export function narrowestFor(need: Need): Capability | undefined {
  return needOf(need).narrowest()?.json as Capability | undefined;
}
