/**
 * A capability is data: what may be touched, and how much. It sits in manifests (what a tool asks for), in policies (what is
 * granted) and in call options (what a caller narrows to). Patterns: see `hosts.ts` and `paths.ts`.
 */
export type Capability = NetCapability | FilesCapability | ClockCapability | RandomCapability;

export interface NetCapability {
  readonly kind: "net.read" | "net.write";
  /** ASCII hosts: exact, `*.example.com` (any host below it, not itself) or `*` (any public host; in a manifest any host). */
  readonly hosts: readonly string[];
  /** Default: 80 and 443; in a manifest any port. */
  readonly ports?: readonly number[];
  /** Path prefixes, matched on whole segments. Default: any path. */
  readonly paths?: readonly string[];
  /** Default: GET and HEAD for `net.read`; POST, PUT, PATCH, DELETE for `net.write`. */
  readonly methods?: readonly string[];
  /** Requests in one call, redirects included. */
  readonly requests?: number;
  /** Decompressed response bytes and request bytes in one call. */
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

export const capabilityKinds: readonly CapabilityKind[] = [
  "net.read",
  "net.write",
  "fs.read",
  "fs.write",
  "clock",
  "random",
];

/** What one request is about to do: the smallest thing that a grant covers or not. */
export type Need =
  | {
      readonly kind: "net.read" | "net.write";
      readonly method: string;
      /** Canonical, as `URL` gives it, without trailing dot. */
      readonly host: string;
      readonly port: number;
      readonly path: string;
    }
  | { readonly kind: "fs.read" | "fs.write"; readonly path: string; readonly bytes?: number }
  | { readonly kind: "clock" }
  | { readonly kind: "random" };
