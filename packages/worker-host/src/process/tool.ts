import type { Isolate, IsolateHost, RegisteredTool } from "@keyhole/kernel";
import { commandBroker, type CommandRunners, type SpawnLimits } from "../brokers/spawn.ts";
import { openProcess } from "./isolate.ts";
import { commandFault } from "./no-commands.ts";

/**
 * Adds commands to a host: the broker for `process.spawn`, and tools of source `process`. A tool
 * that is a command registers only where the host offers that command. It has bounds for fuel and
 * memory where the command counts them.
 */
export function withCommands(host: IsolateHost, runners: CommandRunners, limits: SpawnLimits = {}): IsolateHost {
  const open = new Set<Isolate["terminate"]>();
  const { enforces } = host;
  return {
    ...host,
    sources: [...host.sources, "process"],
    enforces: (manifest) => {
      if (manifest.source !== "process") return typeof enforces === "function" ? enforces(manifest) : enforces;
      return runners.get(manifest.process?.command ?? "")?.counts === true ? ["fuel", "memoryBytes"] : [];
    },
    brokers: [...host.brokers, commandBroker(runners, limits)],
    check: (tool) => commandFault(tool, runners) ?? host.check?.(tool),
    open: async (tool, isWanted) =>
      tool.body.source === "process" ? openCommand(tool.body, runners, open) : host.open(tool, isWanted),
    async close() {
      for (const terminate of open) terminate("the host was closed");
      await host.close();
    },
  };
}

function openCommand(
  body: Extract<RegisteredTool["body"], { source: "process" }>,
  runners: CommandRunners,
  open: Set<Isolate["terminate"]>,
): Isolate {
  const isolate = openProcess(body, async () => runners.get(body.command)?.fault());
  const terminate = (reason: string): void => {
    open.delete(terminate);
    isolate.terminate(reason);
  };
  open.add(terminate);
  return {
    call: (call, port) => isolate.call(call, port),
    terminate,
    get alive() {
      return isolate.alive;
    },
  };
}
