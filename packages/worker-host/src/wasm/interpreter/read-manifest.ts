import type { JsonValue } from "@keyhole/kernel";
import reader from "keyhole:../guest/reader.ts?iife";
import type { Image } from "../../protocol/suspended-call.ts";
import type { Engine } from "./engine.ts";
import { services } from "./services.ts";
import { type Slice, Vm } from "./vm.ts";

export type ManifestReading =
  /** As the tool says it: not yet checked. */
  | { readonly ok: true; readonly manifest: JsonValue }
  /** `reason` is for the author of the tool. */
  | { readonly ok: false; readonly reason: string };

const BOOT_FUEL = 1_000_000_000;
/** Loading a tool defines it and nothing more. A megabyte of bundled libraries takes a tenth of this. */
const READ_FUEL = 4_000_000_000;
const READ_BYTES = 268_435_456;

const booted = new WeakMap<Engine, Image>();

/**
 * Runs a tool's module in an interpreter without any capability, and reads what the tool says of itself. Fuel ends a module that never ends, so that the answer does not depend on
 * the machine. Blocks this thread meanwhile: some milliseconds for a tool, some seconds for a loop.
 *
 * @param code of a tool package: one ES module without imports
 */
export async function readManifest(engine: Engine, code: string): Promise<ManifestReading> {
  const posted: string[] = [];
  const image = booted.get(engine) ?? Vm.boot(engine, hostOf([]), reader, BOOT_FUEL).image();
  booted.set(engine, image);
  const vm = Vm.restore(engine, hostOf(posted), image, false);
  const { state } = await vm.deliver(READ_FUEL, READ_BYTES, code);
  const [text] = posted;
  if (text !== undefined) return readingOf(text);
  return { ok: false, reason: endings[state] };
}

const endings = {
  running: "it waits for something that never comes: while a tool loads, it has no timers and no network",
  "out-of-fuel": `it is still loading after ${READ_FUEL.toLocaleString("en")} instructions`,
  "too-deep": "its functions call each other too deeply while it loads",
  trapped: "it ends its isolate while it loads",
} satisfies Record<Slice["state"], string>;

function hostOf(posted: string[]): typeof services {
  return { ...services, post: ([text]) => void posted.push(String(text)) };
}

/** Reads a text of the tool's realm, which can be anything. */
function readingOf(text: string): ManifestReading {
  const garbled = { ok: false, reason: "its manifest cannot be read: it changes the language that reads it" } as const;
  try {
    const reading: unknown = JSON.parse(text);
    if (typeof reading !== "object" || reading === null) return garbled;
    if ("manifest" in reading) return { ok: true, manifest: reading.manifest as JsonValue };
    return "reason" in reading ? { ok: false, reason: String(reading.reason).slice(0, 2000) } : garbled;
  } catch {
    return garbled;
  }
}
