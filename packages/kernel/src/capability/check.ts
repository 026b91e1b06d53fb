import type { Capability, CommandPattern } from "./capability.ts";
import { checkCommandPattern, describeCommand } from "./commands.ts";
import { checkGrantedHost } from "./hosts.ts";
import { checkKeyPattern } from "./keys.ts";
import { checkNamePattern } from "./names.ts";
import { checkGlob, foreignPattern } from "./paths.ts";
import { checkPathPrefix } from "./readings.ts";

/** What is wrong with the patterns of a capability whose shape is already known to be right. `path` points into the capability. */
export function checkCapability(
  capability: Capability,
): { readonly path: string; readonly message: string; readonly hint?: string } | undefined {
  switch (capability.kind) {
    case "net.read":
    case "net.write":
      return (
        firstFault(capability.hosts, "/hosts", checkGrantedHost) ??
        firstFault(capability.paths, "/paths", checkPathPrefix)
      );
    case "fs.read":
    case "fs.write":
      return firstFault(capability.paths, "/paths", checkGlob) ?? firstFault(capability.except, "/except", checkGlob);
    case "db.read":
    case "db.write":
      return (
        firstFault(capability.databases, "/databases", checkNamePattern) ??
        firstFault(capability.statements, "/statements", (each) =>
          capability.kind === "db.read" && each !== "select" ? "db.read takes `select` alone" : undefined,
        )
      );
    case "kv.read":
    case "kv.write":
      return firstFault(capability.keys, "/keys", checkKeyPattern);
    case "process.spawn":
      return commandFault(capability.commands);
    case "tool.call":
      return firstFault(capability.tools, "/tools", checkNamePattern);
    case "secret.use":
      return (
        firstFault(capability.names, "/names", (each) =>
          each.includes(".") ? "the name of a secret has no dot" : checkNamePattern(each),
        ) ?? firstFault(capability.hosts, "/hosts", checkGrantedHost)
      );
    case "clock":
    case "random":
      return undefined;
  }
}

const wildcards = "Wildcards are `*` and, in paths of files, `**`; write each alternative out.";

function commandFault(commands: readonly CommandPattern[]): ReturnType<typeof checkCapability> {
  for (const [index, command] of commands.entries()) {
    const fault = checkCommandPattern(command);
    if (fault)
      return {
        path: `/commands/${index}${fault.path}`,
        message: `${describeCommand(command).slice(0, 100)}: ${fault.reason}.`,
      };
  }
  return undefined;
}

export function firstFault(
  patterns: readonly string[] = [],
  path: string,
  check: (pattern: string) => string | undefined,
): ReturnType<typeof checkCapability> {
  for (const [index, pattern] of patterns.entries()) {
    const reason = check(pattern);
    if (reason)
      return {
        path: `${path}/${index}`,
        message: `${JSON.stringify(pattern.slice(0, 100))}: ${reason}.`,
        ...(foreignPattern.test(pattern) && { hint: wildcards }),
      };
  }
  return undefined;
}
