import { describe, expect, it } from "vitest";
import {
  cpuTimesOf,
  disksOf,
  gpusOf,
  loadOf,
  memoryOf,
  usedRatio,
} from "../../packages/worker-host/src/tools/operations/metrics.ts";

const stat = (user: number, idle: number): string =>
  `cpu  ${user} 0 0 ${idle} 0 0 0 0 50 50\ncpu0 1 0 0 1 0 0 0 0 0 0\ncpu1 1 0 0 1 0 0 0 0 0 0\nintr 1 2 3\n`;

describe("/proc", () => {
  it("gives cores, and the part of the time in which they worked", () => {
    const [before, after] = [cpuTimesOf(stat(100, 100)), cpuTimesOf(stat(175, 125))];
    expect(after).toEqual({ cores: 2, total: 300, idle: 125 });
    expect(usedRatio(before, after)).toBe(0.75);
    expect(usedRatio(after, after)).toBeNull();
    // The idle time of a core can run backwards (proc(5)).
    expect(usedRatio(cpuTimesOf(stat(0, 100)), cpuTimesOf(stat(50, 90)))).toBe(1);
  });

  it("gives memory and load", () => {
    expect(
      memoryOf("MemTotal:       16 kB\nMemAvailable:    8 kB\nSwapTotal:       4 kB\nSwapFree:        2 kB\n"),
    ).toEqual({
      totalBytes: 16_384,
      availableBytes: 8_192,
      swapTotalBytes: 4_096,
      swapFreeBytes: 2_048,
    });
    expect(loadOf("0.50 1.25 10.00 2/345 6789\n")).toEqual({ oneMinute: 0.5, fiveMinutes: 1.25, fifteenMinutes: 10 });
  });

  it.each([
    ["/proc/stat", () => cpuTimesOf("")],
    ["/proc/stat", () => cpuTimesOf("cpu  x y z 1\n")],
    ["/proc/meminfo has no MemAvailable", () => memoryOf("MemTotal: 16 kB\n")],
    ["/proc/loadavg", () => loadOf("-\n")],
  ])("names what it cannot read: %s", (what, read) => {
    expect(read).toThrow(what);
  });
});

describe("df", () => {
  it("gives each file system with a size, whatever its folder is called", () => {
    const df = [
      "   1B-blocks        Used       Avail Type     Mounted on",
      "       1000         400         600 ext4     /",
      "          0           0           0 proc     /proc",
      "          -           -           - autofs   /net",
      "         10           4           6 fuse.x   /mnt/a b  \u001b[31m\u202e",
    ].join("\n");
    expect(disksOf(df)).toEqual([
      { mountedOn: "/", fileSystem: "ext4", totalBytes: 1_000, usedBytes: 400, availableBytes: 600 },
      {
        mountedOn: "/mnt/a b  \\u001b[31m\\u202e",
        fileSystem: "fuse.x",
        totalBytes: 10,
        usedBytes: 4,
        availableBytes: 6,
      },
    ]);
  });

  it("gives at most 200", () => {
    expect(disksOf("1 1 1 ext4 /a\n".repeat(201))).toHaveLength(200);
  });
});

describe("nvidia-smi", () => {
  it("gives what the driver knows", () => {
    expect(gpusOf("57, 24576, 1024, 61, NVIDIA L4, rev 2\n[N/A], [N/A], [N/A], [N/A], NVIDIA X\n")).toEqual([
      {
        name: "NVIDIA L4, rev 2",
        usedRatio: 0.57,
        memoryTotalBytes: 25_769_803_776,
        memoryUsedBytes: 1_073_741_824,
        celsius: 61,
      },
      { name: "NVIDIA X", usedRatio: null, memoryTotalBytes: null, memoryUsedBytes: null, celsius: null },
    ]);
    expect(gpusOf("No devices were found\n")).toEqual([]);
  });
});
