import type { Reader } from "./reader.ts";
import { MeterRefusal } from "./refusal.ts";
import { hex } from "./types.ts";
import type { Writer } from "./writer.ts";

/** Of a memory, in pages, or of a table, in elements. */
export interface Limits {
  readonly minimum: number;
  readonly maximum: number | undefined;
}

export function readLimits(reader: Reader): Limits {
  const flags = reader.byte();
  if (flags & 2) throw new MeterRefusal("UNSUPPORTED_THREADS", "The module uses shared memory.");
  if (flags & 4) throw new MeterRefusal("UNSUPPORTED_MEMORY64", "The module uses 64-bit memory or tables.");
  if (flags > 1) throw new MeterRefusal("UNSUPPORTED_FEATURE", `Limits with the flags ${hex(flags)} are unknown here.`);
  const minimum = reader.u32();
  return { minimum, maximum: flags & 1 ? reader.u32() : undefined };
}

/** Writes limits with the maximum lowered to `bound`. */
export function writeLimits({ minimum, maximum }: Limits, bound: number, writer: Writer): void {
  writer.byte(1);
  writer.u32(minimum);
  writer.u32(maximum === undefined ? bound : Math.min(maximum, bound));
}
