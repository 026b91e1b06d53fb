import { processSpawn } from "@keyhole/kernel/families";
import type { IsolateHost, RegisteredTool, SetupError } from "@keyhole/kernel";
import { lazyBroker } from "../brokers/lazy.ts";

/** A host that offers no command: tools of source `process` are refused by name, and so is each request for `process.spawn`. */
export function withoutCommands(host: IsolateHost): IsolateHost {
  const broker = lazyBroker([processSpawn], async () => (await import("../brokers/spawn.ts")).commandBroker(new Map()));
  return {
    ...host,
    sources: [...host.sources, "process"],
    brokers: [...host.brokers, broker],
    check: (tool) => commandFault(tool, new Map()) ?? host.check?.(tool),
  };
}

/** For {@link IsolateHost.check}: a tool that is a command which its host does not offer. */
export function commandFault(
  { id, body }: RegisteredTool,
  offered: ReadonlyMap<string, unknown>,
): SetupError | undefined {
  if (body.source !== "process" || offered.has(body.command)) return undefined;
  return {
    code: "INVALID_MANIFEST",
    path: "/process/command",
    message: `${id} is the command ${body.command}, which this host does not offer.`,
    hint: `Give the host that command: commands: { ${JSON.stringify(body.command)}: … }.`,
  };
}
