import { defineTool } from "@keyhole/kernel/tool";
import { lineOf } from "./clean.ts";
import { isAlive, listenersOf, processesOf, psColumns, shown, stateNames } from "./processes.ts";
import { successOf, unreadable } from "./program.ts";

const psArgs = ["-e", "-o", psColumns] as const;
const ssArgs = ["-H", "-l", "-n", "-t", "-u", "-p"] as const;
/** Processes of one answer. */
const maxProcesses = 100;

const count = { type: "integer", minimum: 0 } as const;

export default defineTool({
  name: "check_process_health",
  version: "1.0.0",
  title: "Health of a process",
  description:
    "Says whether a process of the machine runs. Name exactly one of `name` (the program's name, whole or its first 15 bytes), `pid` and `port` (TCP or UDP). " +
    "`isHealthy` is true where at least one such process is neither stopped nor a zombie, and, for a port, something listens on it. Linux only.",
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
        { command: "ps", args: psArgs },
        { command: "ss", args: ssArgs },
      ],
    },
  ],
  bounds: { timeoutMs: 20_000, concurrency: 2 },
  input: {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 256 },
      pid: { type: "integer", minimum: 1, maximum: 4_194_304 },
      port: { type: "integer", minimum: 1, maximum: 65_535 },
    },
    additionalProperties: false,
    examples: [{ name: "nginx" }, { port: 443 }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        isHealthy: { type: "boolean" },
        found: { ...count, description: "All processes that were found; `processes` lists the first 100." },
        processes: {
          type: "array",
          items: {
            type: "object",
            properties: {
              pid: count,
              parentPid: count,
              userId: count,
              state: { enum: stateNames },
              ageSeconds: count,
              residentBytes: count,
              averageCpuPercent: { type: "number", minimum: 0, description: "Since the process started." },
              name: { type: "string" },
            },
            required: [
              "pid",
              "parentPid",
              "userId",
              "state",
              "ageSeconds",
              "residentBytes",
              "averageCpuPercent",
              "name",
            ],
            additionalProperties: false,
          },
        },
        listeners: {
          type: "array",
          description: "For `port`: the sockets on it. `pids` is empty where the user of this host may not know them.",
          items: {
            type: "object",
            properties: {
              protocol: { enum: ["tcp", "udp"] },
              address: { type: "string" },
              port: count,
              pids: { type: "array", items: count },
            },
            required: ["protocol", "address", "port", "pids"],
            additionalProperties: false,
          },
        },
      },
      required: ["isHealthy", "found", "processes", "listeners"],
      additionalProperties: false,
    },
  },
  check(input) {
    return Object.keys(input).length === 1 ? undefined : "Name exactly one of `name`, `pid` and `port`.";
  },
  async execute({ name, pid, port }, { spawn }) {
    const sockets = port === undefined ? "" : await successOf(spawn, "ss", ssArgs);
    const processes = processesOf(await successOf(spawn, "ps", psArgs));
    if (processes.length === 0) throw unreadable("ps", "it lists no process");
    const listeners = listenersOf(sockets, processes).filter((listener) => listener.port === port);
    const pids = new Set(listeners.flatMap((listener) => listener.pids));
    const found = processes.filter((process) => {
      if (name !== undefined) return isNamed(process.name, name);
      return pid !== undefined ? process.pid === pid : pids.has(process.pid);
    });
    const isHealthy = found.some(isAlive) || (found.length === 0 && listeners.length > 0);
    return {
      isHealthy,
      found: found.length,
      processes: found.slice(0, maxProcesses).map(shown),
      listeners: listeners.slice(0, maxProcesses).map((each) => ({ ...each, pids: [...each.pids] })),
    };
  },
});

/** The system keeps 15 bytes of a name. A name that has no plain form is also found by the form that this tool shows. */
function isNamed(actual: string, name: string): boolean {
  if (actual === name || lineOf(actual) === name) return true;
  const bytes = new TextEncoder().encode(name);
  return bytes.length > 15 && new TextEncoder().encode(actual).length === 15 && name.startsWith(actual);
}
