import { type CallMeta, type Tier, tierNames } from "@keyhole/kernel";
import type { Tone } from "../ui/Badge.tsx";

/** How the page says what the kernel names. Names that come from elsewhere become visible text: an edge is foreign. */
export const tierTones = ["neutral", "neutral", "warn", "bad", "bad"] as const satisfies readonly Tone[];

export const findTitle = "Tools, calls, hashes, actions";

export function tierText(tier: Tier): string {
  return `Tier ${tier}, ${tierNames[tier]}`;
}

export function durationText(ms: number): string {
  if (ms < 1) return "< 1 ms";
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000
    ? `${(ms / 1_000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}

/** Of log entries, whose clock counts whole milliseconds. */
export function offsetText(ms: number): string {
  return ms < 1 ? "0 ms" : durationText(ms);
}

/** The cost of a call, where its host counts it. */
export function costText({ fuelUsed, peakMemoryBytes }: Pick<CallMeta, "fuelUsed" | "peakMemoryBytes">): string {
  const fuel = fuelUsed === undefined ? [] : [`${fuelUsed.toLocaleString("en")} fuel`];
  const memory = peakMemoryBytes === undefined ? [] : [`${bytesText(peakMemoryBytes)} of memory`];
  return [...fuel, ...memory].join(", ");
}

export function bytesText(bytes: number): string {
  if (bytes < 1_024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1_024).toFixed(1)} KiB` : `${(bytes / 1_048_576).toFixed(1)} MiB`;
}
