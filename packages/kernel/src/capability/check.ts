import type { Capability } from "./capability.ts";
import { checkHostPattern } from "./hosts.ts";
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
        firstFault(capability.paths, "/paths", (path) =>
          path.startsWith("/") ? undefined : "a path prefix starts with /",
        )
      );
    case "fs.read":
    case "fs.write":
      return firstFault(capability.paths, "/paths", checkGlob) ?? firstFault(capability.except, "/except", checkGlob);
    case "clock":
    case "random":
      return undefined;
  }
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
