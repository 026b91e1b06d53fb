import type { Digest } from "@keyhole/kernel";
import { isDigest } from "@keyhole/kernel";
import { Reader } from "./reader.ts";
import type { Writer } from "./writer.ts";

/** The custom section that says how a module was metered. */
export const METER_SECTION = "keyhole.meter";
/** Raised whenever the count changes, or what a host has to do. */
export const METER_VERSION = 2;

/** The names under which the globals that metering appended are exported: none that the module has itself. */
export interface MeterExports {
  /** i64: fuel and call depth, as `initialFuel` and `readFuel` know them. Set it before a run. */
  readonly fuel: string;
  /** i32: how many pages the memory may have. */
  readonly pages: string;
  /** i32: 1 once growth was refused. */
  readonly refused: string;
  /** The module's start function, which runs after the fuel is set. */
  readonly start?: string;
}

export interface MeterSection {
  readonly version: number;
  /** Digest of the module before it was metered. */
  readonly originalHash: Digest;
  readonly exports: MeterExports;
}

export function writeMeterSection({ version, originalHash, exports }: MeterSection, out: Writer): void {
  out.name(METER_SECTION);
  out.u32(version);
  for (const text of [originalHash, exports.fuel, exports.pages, exports.refused, exports.start ?? ""]) out.name(text);
}

/**
 * The note of a compiled module about its metering. The note proves nothing: the author of any module can write one. Believe it of modules
 * that you built.
 */
export function readMeterSection(module: WebAssembly.Module): MeterSection | undefined {
  const [section, ...more] = WebAssembly.Module.customSections(module, METER_SECTION);
  if (section === undefined || more.length > 0) return undefined;
  const reader = new Reader(new Uint8Array(section));
  const version = reader.u32();
  const originalHash = reader.name();
  if (version !== METER_VERSION || !isDigest(originalHash)) return undefined;
  const [fuel, pages, refused, start] = [reader.name(), reader.name(), reader.name(), reader.name()];
  return { version, originalHash, exports: { fuel, pages, refused, ...(start !== "" && { start }) } };
}
