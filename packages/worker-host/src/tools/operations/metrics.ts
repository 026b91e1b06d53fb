import { lineOf } from "./clean.ts";
import { unreadable } from "./program.ts";

/** Clock ticks since the machine started, over all cores. */
export interface CpuTimes {
  readonly cores: number;
  readonly total: number;
  readonly idle: number;
}

/** Reads `/proc/stat`. */
export function cpuTimesOf(stat: string): CpuTimes {
  const lines = stat.split("\n");
  const [, ...ticks] = lines.find((line) => line.startsWith("cpu "))?.split(/ +/) ?? [];
  // `guest` and `guest_nice` are part of `user` and `nice` already.
  const [user = NaN, nice = NaN, system = NaN, idle = NaN, waiting = 0, ...others] = ticks.slice(0, 8).map(Number);
  const total = [user, nice, system, idle, waiting, ...others].reduce((sum, each) => sum + each, 0);
  if (!Number.isFinite(total)) throw unreadable("cat", "/proc/stat has no line of the CPU");
  return { cores: lines.filter((line) => /^cpu\d/.test(line)).length, total, idle: idle + waiting };
}

/** The part of the time between two readings in which the CPU worked; `null` where no time passed. */
export function usedRatio(before: CpuTimes, after: CpuTimes): number | null {
  const total = after.total - before.total;
  if (total <= 0) return null;
  const used = 1 - (after.idle - before.idle) / total;
  return Math.min(1, Math.max(0, Math.round(used * 1_000) / 1_000));
}

export interface Memory {
  readonly totalBytes: number;
  readonly availableBytes: number;
  readonly swapTotalBytes: number;
  readonly swapFreeBytes: number;
}

/** Reads `/proc/meminfo`. */
export function memoryOf(meminfo: string): Memory {
  const kib = new Map(
    Array.from(meminfo.matchAll(/^(\w+): +(\d+) kB$/gm), ([, name = "", value = ""]) => [name, Number(value)]),
  );
  const bytesOf = (name: string): number => {
    const value = kib.get(name);
    if (value === undefined) throw unreadable("cat", `/proc/meminfo has no ${name}`);
    return value * 1_024;
  };
  return {
    totalBytes: bytesOf("MemTotal"),
    availableBytes: bytesOf("MemAvailable"),
    swapTotalBytes: bytesOf("SwapTotal"),
    swapFreeBytes: bytesOf("SwapFree"),
  };
}

export interface Load {
  readonly oneMinute: number;
  readonly fiveMinutes: number;
  readonly fifteenMinutes: number;
}

/** Reads `/proc/loadavg`. */
export function loadOf(loadavg: string): Load {
  const [, one, five, fifteen] = /^(\d+\.\d+) (\d+\.\d+) (\d+\.\d+) /.exec(loadavg) ?? [];
  if (fifteen === undefined) throw unreadable("cat", "/proc/loadavg has no averages");
  return { oneMinute: Number(one), fiveMinutes: Number(five), fifteenMinutes: Number(fifteen) };
}

export interface Disk {
  readonly mountedOn: string;
  readonly fileSystem: string;
  readonly totalBytes: number;
  readonly usedBytes: number;
  readonly availableBytes: number;
}

/** A machine of containers mounts one file system for each. */
const maxDisks = 200;

/** Reads `df --output=size,used,avail,fstype,target`. The tool omits a line without sizes, as of a pseudo file system. */
export function disksOf(df: string): readonly Disk[] {
  const rows = df.matchAll(/^ *(\d+) +(\d+) +(\d+) +(\S+) +(.+)$/gm);
  return Array.from(rows, ([, total, used, available, fileSystem = "", mountedOn = ""]) => ({
    mountedOn: lineOf(mountedOn),
    fileSystem: lineOf(fileSystem),
    totalBytes: Number(total),
    usedBytes: Number(used),
    availableBytes: Number(available),
  }))
    .filter(({ totalBytes }) => totalBytes > 0)
    .slice(0, maxDisks);
}

export interface Gpu {
  readonly name: string;
  readonly usedRatio: number | null;
  readonly memoryTotalBytes: number | null;
  readonly memoryUsedBytes: number | null;
  readonly celsius: number | null;
}

/** Reads `nvidia-smi --format=csv,noheader,nounits`: the name comes last, because it can hold a comma. */
export function gpusOf(csv: string): readonly Gpu[] {
  const rows = csv.matchAll(/^([^,\n]*), ([^,\n]*), ([^,\n]*), ([^,\n]*), (.+)$/gm);
  return Array.from(rows, ([, used = "", total = "", taken = "", celsius = "", name = ""]) => ({
    name: lineOf(name),
    usedRatio: scaled(used, 1 / 100),
    memoryTotalBytes: scaled(total, 1_048_576),
    memoryUsedBytes: scaled(taken, 1_048_576),
    celsius: scaled(celsius, 1),
  }));
}

/** A number in another unit; `null` for `[N/A]`. */
function scaled(text: string, factor: number): number | null {
  return /^\d+(?:\.\d+)?$/.test(text) ? Math.round(Number(text) * factor * 100) / 100 : null;
}
