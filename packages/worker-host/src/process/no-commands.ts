import type { IsolateHost, RegisteredTool, SetupError } from "@keyhole/kernel";

/**
 * A host that offers no command: tools of source `process` are refused by name. It has no broker for `process.spawn`, so a kernel that knows the kind
 * refuses each request, and one that does not knows it from nowhere: the family would be a part of every page.
 */
export function withoutCommands(host: IsolateHost): IsolateHost {
  return {
    ...host,
    sources: [...host.sources, "process"],
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
