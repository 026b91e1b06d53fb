import type { Capability, Need } from "./capability.ts";
import { checkCapability } from "./check.ts";
import { capabilityCovers } from "./covers.ts";
import { foreignPattern } from "./paths.ts";
import { checkPathPrefix, isPathPrefix } from "./readings.ts";
import { capabilityLimits } from "./schema.ts";

/**
 * The narrowest capability that covers a need, to be granted by a person. Paths of the network and keys are granted by prefix: what lies below is covered with them.
 * `undefined` where nothing covers it but a capability for everything of its kind.
 */
export function narrowestFor(need: Need): Capability | undefined {
  const capability = candidateFor(need);
  const isFit = capability && !checkCapability(capability) && capabilityCovers(capability, need, "authority");
  return isFit ? capability : undefined;
}

function candidateFor(need: Need): Capability | undefined {
  switch (need.kind) {
    case "net.read":
    case "net.write":
      return netCandidate(need);
    case "fs.read":
    case "fs.write": {
      const { kind, path, bytes } = need;
      if (path === "" || isLong(path)) return undefined;
      return { kind, paths: [globOf(path)], ...(bytes !== undefined && { fileBytes: bytes }) };
    }
    case "db.read":
    case "db.write":
      return { kind: need.kind, databases: [need.database], statements: [...new Set(need.statements)] };
    case "kv.read":
    case "kv.write": {
      const { kind, key, bytes } = need;
      const prefix = key.replace(/[?{}[\]].*|^!.*/s, "");
      return prefix === "" ? undefined : { kind, keys: [prefix], ...(bytes !== undefined && { valueBytes: bytes }) };
    }
    case "process.spawn": {
      const { kind, command, args } = need;
      if (args.length > capabilityLimits.arguments || args.some(isLongArgument)) return undefined;
      return { kind, commands: [{ command, args }] };
    }
    case "tool.call":
      return { kind: need.kind, tools: [need.tool] };
    case "secret.use":
      return { kind: need.kind, names: [need.name], hosts: [need.host] };
    case "clock":
    case "random":
      return { kind: need.kind };
  }
}

function netCandidate({
  kind,
  host,
  port,
  method,
  path: asked,
}: Extract<Need, { method: string }>): Capability | undefined {
  const path = prefixOf(asked);
  if (path === undefined || !/^[A-Z]{1,20}$/.test(method)) return undefined;
  return { kind, hosts: [host], ports: [port], paths: [path], methods: [method], requests: 1 };
}

const isLong = (pattern: string): boolean => pattern.length > capabilityLimits.patternLength;
const isLongArgument = (argument: string): boolean => argument.length > capabilityLimits.argumentLength;

/** The path, or the longest prefix of it that can be granted and says beyond doubt what it covers. Never the root of something else. */
function prefixOf(path: string): string | undefined {
  for (let prefix = path; prefix !== ""; prefix = prefix.slice(0, prefix.lastIndexOf("/")))
    if (!isLong(prefix) && checkPathPrefix(prefix) === undefined && isPathPrefix(prefix, path)) return prefix;
  return path === "/" ? path : undefined;
}

/** What no glob can say as it is stands under a wildcard. */
function globOf(path: string): string {
  return path.replace(new RegExp(`(?:${foreignPattern.source}|\\*)+`, "g"), "*");
}

/** Whether a declaration names single things: then it is no wider than the one thing that its tool can ask for. */
export function isNarrow(capability: Capability): boolean {
  switch (capability.kind) {
    case "net.read":
    case "net.write":
      return isLiteral(capability.hosts);
    case "fs.read":
    case "fs.write":
      return isLiteral(capability.paths);
    case "db.read":
    case "db.write":
      return isLiteral(capability.databases);
    case "kv.read":
    case "kv.write":
      return isLiteral(capability.keys) && !capability.keys.includes("");
    case "process.spawn":
      return capability.commands.every(({ args = [] }) => args.every((each) => typeof each === "string"));
    case "tool.call":
      return isLiteral(capability.tools);
    case "secret.use":
      return isLiteral(capability.names) && isLiteral(capability.hosts);
    case "clock":
    case "random":
      return true;
  }
}

function isLiteral(patterns: readonly string[]): boolean {
  return patterns.every((each) => !each.includes("*"));
}
