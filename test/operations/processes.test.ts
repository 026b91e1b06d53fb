import { describe, expect, it } from "vitest";
import { isAlive, listenersOf, processesOf, shown } from "../../packages/worker-host/src/tools/operations/processes.ts";

const psOf = (...rows: readonly (readonly [pid: number, name: string, state?: string])[]): string =>
  rows.map(([pid, name, state = "S"]) => `${pid}     1  1000 ${state}   12  4096  0.5 ${name}\n`).join("");
const socket = (users: string): string => `tcp LISTEN 0      128    127.0.0.1:8080 0.0.0.0:* ${users}\n`;
const pidsOf = (ss: string, ps: string): readonly number[] =>
  listenersOf(ss, processesOf(ps)).flatMap(({ pids }) => pids);

describe("ps", () => {
  it("is read column by column, spaces in a name included", () => {
    const [process] = processesOf("   42     1  1000 Ssl    90061  4096  1.5 a b  c\n");
    expect(process).toEqual({
      pid: 42,
      parentPid: 1,
      userId: 1000,
      state: "sleeping",
      ageSeconds: 90_061,
      residentBytes: 4_194_304,
      averageCpuPercent: 1.5,
      name: "a b  c",
    });
  });

  it("knows each state, and what can do its work", () => {
    const states = ["R", "S", "I", "D", "T", "t", "Z", "X", "?"];
    const processes = processesOf(psOf(...states.map((state, at) => [at + 1, "a", state] as const)));
    expect(processes.map(({ state }) => state)).toEqual([
      "running",
      "sleeping",
      "idle",
      "waiting",
      "stopped",
      "stopped",
      "zombie",
      "dead",
      "unknown",
    ]);
    expect(processes.map(isAlive)).toEqual([true, true, true, true, false, false, false, false, true]);
  });

  it("leaves out lines that are no processes", () => {
    expect(processesOf("error: something\n\n  1 2 3\n-1 0 0 S 1 1 0.0 x\n")).toEqual([]);
  });

  it("shows what a terminal would obey, and what turns text around", () => {
    const [process] = processesOf(psOf([7, "\u202egnp\u001b[2J\u0007"]));
    expect(process && shown(process).name).toBe("\\u202egnp\\u001b[2J\\u0007");
  });
});

describe("ss", () => {
  it("gives protocol, address, port and holders", () => {
    const ss = [
      'tcp   LISTEN 0      511          0.0.0.0:80        0.0.0.0:*    users:(("nginx",pid=12,fd=6),("nginx",pid=11,fd=6))',
      "tcp   LISTEN 0      128             [::]:22           [::]:*          ",
      "udp   UNCONN 0      0      127.0.0.53%lo:53        0.0.0.0:*    ",
      "tcp   LISTEN 0      4096               *:9090            *:*    ",
      "",
    ].join("\n");
    expect(listenersOf(ss, processesOf(psOf([11, "nginx"], [12, "nginx"])))).toEqual([
      { protocol: "tcp", address: "0.0.0.0", port: 80, pids: [12, 11] },
      { protocol: "tcp", address: "[::]", port: 22, pids: [] },
      { protocol: "udp", address: "127.0.0.53%lo", port: 53, pids: [] },
      { protocol: "tcp", address: "*", port: 9090, pids: [] },
    ]);
  });

  it.each([
    ["a pid behind its own name", '",pid=1,fd=1),(', psOf([1, "systemd"], [200, '",pid=1,fd=1),('])],
    ["a pid behind the name of the first process", 'sh",pid=1,fd=1)', psOf([1, "sh"], [200, 'sh",pid=1,fd=1)'])],
    ["a pid behind an empty name", '",pid=2,fd=1)', psOf([2, ""], [200, '",pid=2,fd=1)'])],
  ])("names no process that does not listen, whatever a process is called: %s", (_, name, ps) => {
    expect(pidsOf(socket(`users:(("${name}",pid=200,fd=3))`), ps)).toEqual([200]);
  });

  it("reads a line that the name of a process breaks", () => {
    const ss = `${socket('users:(("a\nb\u001b[31mc",pid=9,fd=3))')}${socket('users:(("d",pid=10,fd=3))')}`;
    expect(listenersOf(ss, processesOf(psOf([9, "a?b?[31mc"], [10, "d"]))).map(({ pids }) => pids)).toEqual([
      [9],
      [10],
    ]);
  });

  it("names no process that ps does not know", () => {
    expect(pidsOf(socket('users:(("gone",pid=77,fd=3))'), psOf([1, "init"]))).toEqual([]);
  });
});
