import type {
  Capability,
  DatabaseCapability,
  FilesCapability,
  KeysCapability,
  Need,
  NetCapability,
  StatementKind,
} from "./capability.ts";
import { matchCommand } from "./commands.ts";
import { isReached, matchHost } from "./hosts.ts";
import { matchKey } from "./keys.ts";
import { matchName } from "./names.ts";
import { matchPath, pathMatcher } from "./paths.ts";
import { isPathPrefix } from "./readings.ts";

/** How a capability is read: as a tool's wish, generously, or as somebody's authority, strictly. */
export type Reading = "wish" | "authority";

/** Whether one capability alone covers a need. */
export function capabilityCovers(capability: Capability, need: Need, reading: Reading): boolean {
  switch (capability.kind) {
    case "net.read":
    case "net.write":
      return need.kind === capability.kind && netCovers(capability, need, reading);
    case "fs.read":
    case "fs.write":
      return need.kind === capability.kind && filesCover(capability, need);
    case "db.read":
    case "db.write":
      return need.kind === capability.kind && databaseCovers(capability, need);
    case "kv.read":
    case "kv.write":
      return need.kind === capability.kind && keysCover(capability, need);
    case "process.spawn":
      return (
        need.kind === capability.kind &&
        capability.commands.some((pattern) => matchCommand(pattern, need.command, need.args))
      );
    case "tool.call":
      return need.kind === capability.kind && capability.tools.some((pattern) => matchName(pattern, need.tool));
    case "secret.use":
      return (
        need.kind === capability.kind &&
        capability.names.some((pattern) => matchName(pattern, need.name)) &&
        coversHost(capability.hosts, need, reading)
      );
    case "clock":
    case "random":
      return need.kind === capability.kind;
  }
}

type NeedOf<Kind extends Need["kind"]> = Extract<Need, { kind: Kind }>;

const defaultMethods: Record<NetCapability["kind"], readonly string[]> = {
  "net.read": ["GET", "HEAD"],
  "net.write": ["POST", "PUT", "PATCH", "DELETE"],
};

function coversHost(
  patterns: readonly string[],
  need: { readonly host: string; readonly isPublic?: boolean },
  reading: Reading,
): boolean {
  return patterns.some(
    (pattern) => (reading === "wish" && pattern === "*") || matchHost(pattern, need.host, isReached(need)),
  );
}

function netCovers(capability: NetCapability, need: NeedOf<NetCapability["kind"]>, reading: Reading): boolean {
  return (
    coversHost(capability.hosts, need, reading) &&
    ((reading === "wish" && capability.ports === undefined) || (capability.ports ?? [80, 443]).includes(need.port)) &&
    (capability.methods ?? defaultMethods[capability.kind]).includes(need.method) &&
    (capability.paths === undefined || capability.paths.some((prefix) => isPathPrefix(prefix, need.path)))
  );
}

function filesCover(capability: FilesCapability, need: NeedOf<FilesCapability["kind"]>): boolean {
  return (
    capability.paths.some((glob) => matchPath(glob, need.path)) &&
    !pathMatcher(capability.except ?? [], "deny")(need.path) &&
    (need.bytes ?? 0) <= (capability.fileBytes ?? Infinity)
  );
}

export const defaultStatements: Record<DatabaseCapability["kind"], readonly StatementKind[]> = {
  "db.read": ["select"],
  "db.write": ["insert", "update", "delete"],
};

function databaseCovers(
  { kind, databases, statements = defaultStatements[kind] }: DatabaseCapability,
  need: NeedOf<DatabaseCapability["kind"]>,
): boolean {
  return (
    databases.some((pattern) => matchName(pattern, need.database)) &&
    need.statements.length > 0 &&
    need.statements.every((each) => statements.includes(each) && (kind === "db.write" || each === "select"))
  );
}

function keysCover({ keys, valueBytes = Infinity }: KeysCapability, need: NeedOf<KeysCapability["kind"]>): boolean {
  return keys.some((pattern) => matchKey(pattern, need.key)) && (need.bytes ?? 0) <= valueBytes;
}
