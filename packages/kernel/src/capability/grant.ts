import type { JsonObject } from "../normalize/json.ts";
import { hashJson } from "../normalize/hash.ts";
import {
  type Capability,
  type CapabilityKind,
  capabilityKinds,
  type FilesCapability,
  type Need,
  type NetCapability,
} from "./capability.ts";
import { matchHost } from "./hosts.ts";
import { matchPath } from "./paths.ts";

/**
 * What one call may do: what the tool declares, and over it a stack of layers, the policy's grants first, then whatever the caller narrowed
 * to. A need is covered when the declaration and every layer cover it, so adding a layer can only narrow, and nothing has to intersect two
 * patterns. A declaration is a wish and is read generously: its `*` takes any host and its missing `ports` any port. Layers give authority and
 * are read strictly.
 */
export interface Grant {
  readonly declared: readonly Capability[];
  readonly layers: readonly (readonly Capability[])[];
  readonly hash: string;
}

export function grantOf(declared: Grant["declared"], layers: Grant["layers"]): Grant {
  return { declared, layers, hash: hashJson({ declared, layers } as unknown as JsonObject) };
}

/** Narrows a grant. The result never covers anything that the parent does not. */
export function attenuate(parent: Grant, capabilities: readonly Capability[]): Grant {
  return grantOf(parent.declared, [...parent.layers, capabilities]);
}

/** The kinds of which something is left. A kind that the declaration or some layer lacks is gone. */
export function grantedKinds(grant: Grant): readonly CapabilityKind[] {
  const has = (layer: readonly Capability[], kind: CapabilityKind): boolean =>
    layer.some((capability) => capability.kind === kind);
  return capabilityKinds.filter(
    (kind) => has(grant.declared, kind) && grant.layers.length > 0 && grant.layers.every((layer) => has(layer, kind)),
  );
}

export function covers(grant: Grant, need: Need): boolean {
  return (
    grant.layers.length > 0 &&
    grant.declared.some((capability) => capabilityCovers(capability, need, "wish")) &&
    grant.layers.every((layer) => layer.some((capability) => capabilityCovers(capability, need, "authority")))
  );
}

function capabilityCovers(capability: Capability, need: Need, reading: "wish" | "authority"): boolean {
  switch (capability.kind) {
    case "net.read":
    case "net.write":
      return need.kind === capability.kind && netCovers(capability, need, reading);
    case "fs.read":
    case "fs.write":
      return need.kind === capability.kind && filesCover(capability, need);
    case "clock":
    case "random":
      return need.kind === capability.kind;
  }
}

type NetNeed = Extract<Need, { kind: NetCapability["kind"] }>;
type FilesNeed = Extract<Need, { kind: FilesCapability["kind"] }>;

const defaultMethods: Record<NetCapability["kind"], readonly string[]> = {
  "net.read": ["GET", "HEAD"],
  "net.write": ["POST", "PUT", "PATCH", "DELETE"],
};

function netCovers(capability: NetCapability, need: NetNeed, reading: "wish" | "authority"): boolean {
  const isWish = reading === "wish";
  return (
    capability.hosts.some((pattern) => (isWish && pattern === "*") || matchHost(pattern, need.host)) &&
    ((isWish && capability.ports === undefined) || (capability.ports ?? [80, 443]).includes(need.port)) &&
    (capability.methods ?? defaultMethods[capability.kind]).includes(need.method) &&
    (capability.paths === undefined || capability.paths.some((prefix) => isPathPrefix(prefix, need.path)))
  );
}

function filesCover(capability: FilesCapability, need: FilesNeed): boolean {
  return (
    capability.paths.some((glob) => matchPath(glob, need.path)) &&
    !capability.except?.some((glob) => matchPath(glob, need.path)) &&
    (need.bytes ?? 0) <= (capability.fileBytes ?? Infinity)
  );
}

/** What servers decode late: a slash, dot or backslash that is encoded, once or more often. */
const encodedStep = /%(?:25)*(?:2[ef]|5c)/i;
/** `..;x`: a parameter to some servers (RFC 3986, 3.3), which then go up. */
const stepWithParameter = /\/\.{1,2}(?:;|%(?:25)*3b)/i;

/** `/a` covers `/a` and `/a/b`, not `/ab`. A path that can be read in two ways is under no prefix but `/`. */
export function isPathPrefix(prefix: string, path: string): boolean {
  if (prefix === "/") return true;
  if (encodedStep.test(path) || stepWithParameter.test(path)) return false;
  return path === prefix || path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}

/** The tightest total over all layers; within a layer the most generous capability of those kinds counts. `Infinity` where none sets one. */
export function totalOf(
  grant: Grant,
  kinds: readonly NetCapability["kind"][],
  constraint: "requests" | "bytes",
): number {
  return narrowest(grant, (capability) =>
    capability.kind === "net.read" || capability.kind === "net.write"
      ? kinds.includes(capability.kind)
        ? (capability[constraint] ?? Infinity)
        : undefined
      : undefined,
  );
}

/** How large the file at `path` may be. `Infinity` where nothing says so. */
export function fileBytesOf(grant: Grant, path: string): number {
  return narrowest(grant, (capability) =>
    (capability.kind === "fs.read" || capability.kind === "fs.write") &&
    capability.paths.some((glob) => matchPath(glob, path))
      ? (capability.fileBytes ?? Infinity)
      : undefined,
  );
}

function narrowest(grant: Grant, read: (capability: Capability) => number | undefined): number {
  let least = Infinity;
  for (const layer of [grant.declared, ...grant.layers]) {
    const values = layer.map(read).filter((value) => value !== undefined);
    if (values.length > 0) least = Math.min(least, Math.max(...values));
  }
  return least;
}

/** One line per capability, for people: what an approval shows and a refusal names. */
export function describeCapability(capability: Capability): string {
  switch (capability.kind) {
    case "net.read":
    case "net.write":
      return `${capability.kind} ${capability.hosts.join(", ")}${capability.ports ? ` on port ${capability.ports.join(", ")}` : ""}${capability.paths ? ` under ${capability.paths.join(", ")}` : ""}`;
    case "fs.read":
    case "fs.write":
      return `${capability.kind} ${capability.paths.join(", ")}${capability.except ? ` except ${capability.except.join(", ")}` : ""}`;
    case "clock":
    case "random":
      return capability.kind;
  }
}
