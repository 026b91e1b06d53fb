/**
 * A capability is data: what may be touched, and how much. It sits in manifests (what a tool asks for), in policies (what is
 * granted) and in call options (what a caller narrows to). Patterns: see `hosts.ts`, `paths.ts`, `names.ts`, `keys.ts` and `commands.ts`.
 */
export type Capability =
  | NetCapability
  | FilesCapability
  | DatabaseCapability
  | KeysCapability
  | SpawnCapability
  | ToolCallCapability
  | SecretCapability
  | ClockCapability
  | RandomCapability;

export interface NetCapability {
  readonly kind: "net.read" | "net.write";
  /** ASCII hosts: exact, `*.example.com` (any public host below it, not itself) or `*` (any public host; in a manifest any host). */
  readonly hosts: readonly string[];
  /** Default: 80 and 443; in a manifest any port. */
  readonly ports?: readonly number[];
  /** Path prefixes, matched on whole segments. Default: any path. */
  readonly paths?: readonly string[];
  /** Default: GET and HEAD for `net.read`; POST, PUT, PATCH, DELETE for `net.write`. */
  readonly methods?: readonly string[];
  /** Requests in one call that are charged to this capability, redirects included. */
  readonly requests?: number;
  /** Decompressed response bytes and request bytes of those requests. */
  readonly bytes?: number;
}

export interface FilesCapability {
  readonly kind: "fs.read" | "fs.write";
  /** Globs over `/`-separated relative paths: `*` within a segment, `**` over segments. */
  readonly paths: readonly string[];
  /** Globs that are never allowed, whatever `paths` says. */
  readonly except?: readonly string[];
  /** Bytes per file. */
  readonly fileBytes?: number;
  /** Bytes of all files in one call that are charged to this capability: those that are read, or those that are written. */
  readonly totalBytes?: number;
}

/**
 * What a statement does to a database. One statement can be of several: `INSERT … ON CONFLICT DO UPDATE` inserts and updates. A change that reads has two
 * needs: `db.write` of what it changes, and `db.read`.
 */
export const statementKinds = ["select", "insert", "update", "delete", "create", "alter", "drop"] as const;
export type StatementKind = (typeof statementKinds)[number];

export interface DatabaseCapability {
  readonly kind: "db.read" | "db.write";
  /** Names of databases: exact, `logs_*` (a prefix) or `*`. */
  readonly databases: readonly string[];
  /** Default: `select` for `db.read`, which takes no other; `insert`, `update`, `delete` for `db.write`. */
  readonly statements?: readonly StatementKind[];
  /** Rows of one answer. */
  readonly rows?: number;
}

export interface KeysCapability {
  readonly kind: "kv.read" | "kv.write";
  /** Prefixes of keys; `""` and `*` are every key. */
  readonly keys: readonly string[];
  /** Bytes per value. */
  readonly valueBytes?: number;
}

export interface SpawnCapability {
  readonly kind: "process.spawn";
  readonly commands: readonly CommandPattern[];
}

/** A command and the arguments that it may be given. There is no shell, and no command line as one text. */
export interface CommandPattern {
  /** A name, matched exactly: never a path. */
  readonly command: string;
  /** One pattern per argument, in order; only the last may be a `rest`. Default: no arguments. */
  readonly args?: readonly (ArgumentPattern | RestPattern)[];
}

/**
 * What one argument may be: exactly a text, or one of several forms. What a program could take for an option (a leading `-`) or for the name of a file
 * with more arguments (a leading `@`) never fits a form by accident: it has to be written out.
 */
export type ArgumentPattern =
  | string
  | { readonly oneOf: readonly string[] }
  /** Begins so, and goes on without a step to a folder above. `""` is any text. A prefix of an option names the option whole: `--format=`. */
  | { readonly prefix: string }
  /** A relative path under one of these globs. */
  | { readonly path: readonly string[] }
  /** A whole number in decimal digits, both ends inclusive. `min` is 0 by default, `max` the largest safe integer. */
  | { readonly number: { readonly min?: number; readonly max?: number } };

/** Any number of arguments, none included, each of which fits. */
export interface RestPattern {
  readonly rest: ArgumentPattern;
}

export interface ToolCallCapability {
  readonly kind: "tool.call";
  /** Names of tools: exact, `report_*` (a prefix) or `*`. What a called tool may do is narrowed to what the caller may. */
  readonly tools: readonly string[];
}

/** The use of secrets that the tool names and never sees: its broker puts the value in the place of a placeholder, on the way to these hosts. */
export interface SecretCapability {
  readonly kind: "secret.use";
  /** Names of secrets: exact, `github_*` (a prefix) or `*`. */
  readonly names: readonly string[];
  /** As in {@link NetCapability}. */
  readonly hosts: readonly string[];
}

/** The real clock. Without it a tool sees logical time: the call's start. */
export interface ClockCapability {
  readonly kind: "clock";
}

/** Real randomness. Without it a tool sees a sequence from the call's seed. */
export interface RandomCapability {
  readonly kind: "random";
}

export type CapabilityKind = Capability["kind"];

export const effects = [
  "net.read",
  "net.write",
  "fs.read",
  "fs.write",
  "db.read",
  "db.write",
  "kv.read",
  "kv.write",
  "process.spawn",
] as const;
/** The kinds by which something is done to the world, or learnt of it: what the tool's manifest and the call's result name. */
export type Effect = (typeof effects)[number];

export function isEffect(kind: CapabilityKind): kind is Effect {
  return (effects as readonly CapabilityKind[]).includes(kind);
}

/** The others do nothing by themselves, or do it through a call or a request of its own. */
export const capabilityKinds: readonly CapabilityKind[] = [...effects, "tool.call", "secret.use", "clock", "random"];

/** What one request is about to do: the smallest thing that a grant covers or not. */
export type Need =
  | {
      readonly kind: "net.read" | "net.write";
      readonly method: string;
      /** Canonical, as `URL` gives it, without trailing dot. */
      readonly host: string;
      /** Whether the broker knows it for a name of the public internet: only such a one is reached by a wildcard. */
      readonly isPublic?: boolean;
      readonly port: number;
      readonly path: string;
    }
  | { readonly kind: "fs.read" | "fs.write"; readonly path: string; readonly bytes?: number }
  | {
      readonly kind: "db.read" | "db.write";
      readonly database: string;
      /** As `classifyStatement` of `@keyhole/kernel/statements` finds them. */
      readonly statements: readonly StatementKind[];
    }
  | {
      readonly kind: "kv.read" | "kv.write";
      /** A key, or for a list the prefix of all keys that it may show. */
      readonly key: string;
      readonly lists?: boolean;
      readonly bytes?: number;
    }
  | { readonly kind: "process.spawn"; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: "tool.call"; readonly tool: string }
  | { readonly kind: "secret.use"; readonly name: string; readonly host: string; readonly isPublic?: boolean }
  | { readonly kind: "clock" }
  | { readonly kind: "random" };
