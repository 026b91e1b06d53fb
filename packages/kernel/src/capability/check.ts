import type { Capability, CommandPattern } from "./capability.ts";
import { checkCommandPattern, describeCommand } from "./commands.ts";
import { checkHostPattern } from "./hosts.ts";
import { checkKeyPattern } from "./keys.ts";
import { checkNamePattern } from "./names.ts";
import { checkGlob } from "./paths.ts";

/** What is wrong with the patterns of a capability whose shape is already known to be right. `path` points into the capability. */
export function checkCapability(
  capability: Capability,
): { readonly path: string; readonly message: string } | undefined {
  switch (capability.kind) {
    case "net.read":
    case "net.write":
      return (
        firstFault(capability.hosts, "/hosts", checkHostPattern) ??
        firstFault(capability.paths, "/paths", pathPrefixFault)
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
        ) ?? firstFault(capability.hosts, "/hosts", checkHostPattern)
      );
    case "clock":
    case "random":
      return undefined;
  }
}

/** Paths of files are globs, those of the network are prefixes: a star would be taken as it is, and match nothing. */
function pathPrefixFault(path: string): string | undefined {
  if (!path.startsWith("/")) return "a path prefix starts with /";
  return path.includes("*") ? "a path prefix has no *: it covers all below it by itself" : undefined;
}

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
    if (reason) return { path: `${path}/${index}`, message: `${JSON.stringify(pattern.slice(0, 100))}: ${reason}.` };
  }
  return undefined;
}
