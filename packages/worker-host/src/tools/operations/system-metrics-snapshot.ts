import { defineTool, type ToolContext } from "@keyhole/kernel/tool";
import { cpuTimesOf, type Disk, disksOf, type Gpu, gpusOf, loadOf, memoryOf, usedRatio } from "./metrics.ts";
import { failed, outputOf, successOf, unreadable } from "./program.ts";

const dfArgs = ["-B1", "-l", "--output=size,used,avail,fstype,target"] as const;
const gpuArgs = [
  "--query-gpu=utilization.gpu,memory.total,memory.used,temperature.gpu,name",
  "--format=csv,noheader,nounits",
] as const;
/** Seconds between the two readings of the CPU's time. */
const interval = "0.25";

const bytes = { type: "integer", minimum: 0 } as const;
const ratio = { type: ["number", "null"], minimum: 0, maximum: 1 } as const;

export default defineTool({
  name: "system_metrics_snapshot",
  version: "1.0.0",
  title: "Metrics of the machine",
  description:
    "Says how busy the machine of this host is now: CPU over a quarter of a second, memory, swap, local disks, load averages, and NVIDIA GPUs where they can be " +
    "read (else null). Linux only.",
  category: "operations",
  effects: ["process.spawn"],
  determinism: "external",
  tier: 1,
  risk: "low",
  idempotent: true,
  capabilities: [
    {
      kind: "process.spawn",
      commands: [
        { command: "cat", args: ["/proc/meminfo"] },
        { command: "cat", args: ["/proc/stat"] },
        { command: "cat", args: ["/proc/loadavg"] },
        { command: "sleep", args: [interval] },
        { command: "df", args: dfArgs },
        { command: "nvidia-smi", args: gpuArgs },
      ],
    },
  ],
  bounds: { timeoutMs: 20_000, concurrency: 2 },
  input: { type: "object", properties: {}, additionalProperties: false, examples: [{}] },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        cpu: {
          type: "object",
          properties: {
            cores: { type: "integer", minimum: 0 },
            usedRatio: { ...ratio, description: "0 is idle, 1 is all cores busy; null where no time passed." },
          },
          required: ["cores", "usedRatio"],
          additionalProperties: false,
        },
        memory: {
          type: "object",
          properties: { totalBytes: bytes, availableBytes: bytes, swapTotalBytes: bytes, swapFreeBytes: bytes },
          required: ["totalBytes", "availableBytes", "swapTotalBytes", "swapFreeBytes"],
          additionalProperties: false,
        },
        load: {
          type: "object",
          properties: {
            oneMinute: { type: "number", minimum: 0 },
            fiveMinutes: { type: "number", minimum: 0 },
            fifteenMinutes: { type: "number", minimum: 0 },
          },
          required: ["oneMinute", "fiveMinutes", "fifteenMinutes"],
          additionalProperties: false,
        },
        disks: {
          type: "array",
          items: {
            type: "object",
            properties: {
              mountedOn: { type: "string" },
              fileSystem: { type: "string" },
              totalBytes: bytes,
              usedBytes: bytes,
              availableBytes: bytes,
            },
            required: ["mountedOn", "fileSystem", "totalBytes", "usedBytes", "availableBytes"],
            additionalProperties: false,
          },
        },
        gpu: {
          type: ["array", "null"],
          description: "null where no GPU can be read.",
          items: {
            type: "object",
            properties: {
              name: { type: "string" },
              usedRatio: ratio,
              memoryTotalBytes: { type: ["integer", "null"] },
              memoryUsedBytes: { type: ["integer", "null"] },
              celsius: { type: ["number", "null"] },
            },
            required: ["name", "usedRatio", "memoryTotalBytes", "memoryUsedBytes", "celsius"],
            additionalProperties: false,
          },
        },
      },
      required: ["cpu", "memory", "load", "disks", "gpu"],
      additionalProperties: false,
    },
  },
  async execute(_, { spawn }) {
    const before = cpuTimesOf(await successOf(spawn, "cat", ["/proc/stat"]));
    await successOf(spawn, "sleep", [interval]);
    const after = cpuTimesOf(await successOf(spawn, "cat", ["/proc/stat"]));
    return {
      cpu: { cores: after.cores, usedRatio: usedRatio(before, after) },
      memory: memoryOf(await successOf(spawn, "cat", ["/proc/meminfo"])),
      load: loadOf(await successOf(spawn, "cat", ["/proc/loadavg"])),
      disks: await readDisks(spawn),
      gpu: await readGpus(spawn),
    };
  },
});

type Spawn = ToolContext["spawn"];

/** `df` ends with 1 when one of the file systems cannot be read, and lists the others. */
async function readDisks(spawn: Spawn): Promise<Disk[]> {
  const output = await outputOf(spawn, "df", dfArgs);
  if (output.stdout === "") throw failed("df", output);
  const disks = [...disksOf(output.stdout)];
  if (output.exitCode === 0 && disks.length === 0) throw unreadable("df", "it lists no file system");
  return disks;
}

/** No driver, no device and no grant mean the same: nothing can be read. */
async function readGpus(spawn: Spawn): Promise<Gpu[] | null> {
  try {
    const gpus = [...gpusOf(await successOf(spawn, "nvidia-smi", gpuArgs))];
    return gpus.length > 0 ? gpus : null;
  } catch {
    return null;
  }
}
