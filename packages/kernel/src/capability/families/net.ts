import { type Ask, bodyBytes } from "../ask.ts";
import type { Governed } from "../capability.ts";
import { defineFamily } from "../define-family.ts";
import type { Family, TargetSpec } from "../family.ts";
import { type CapabilityFault, count } from "../fields.ts";
import { kindOfMethod, readMethod, readMethods, readUrl, urlPlace } from "../net-request.ts";
import {
  coversWeb,
  describeWeb,
  isNarrowWeb,
  narrowestWeb,
  webConditions,
  webFault,
  webFields,
  type WebGrant,
  type WebNeed,
  webNeed,
  webTarget,
} from "../web-place.ts";

declare module "../capability.ts" {
  interface CapabilityTypes {
    "net.read": NetCapability<"net.read">;
    "net.write": NetCapability<"net.write">;
  }
  interface EffectTypes {
    "net.read": true;
    "net.write": true;
  }
  interface RequestConditions {
    /** Hosts of requests, and of secrets. */
    readonly host?: readonly string[];
    /** Prefixes of paths of the network, which begin with a slash, and globs of files. */
    readonly path?: readonly string[];
    readonly method?: readonly string[];
  }
  interface ToolLists {
    /** Host patterns, of requests and of secrets. */
    readonly hosts?: Governed;
  }
  interface NeedTypes {
    "net.read": NetNeed<"net.read">;
    "net.write": NetNeed<"net.write">;
  }
}

type NetKind = "net.read" | "net.write";

export interface NetCapability<Kind extends NetKind = NetKind> extends WebGrant {
  readonly kind: Kind;
  /** Default: GET and HEAD for `net.read`; POST, PUT, PATCH, DELETE for `net.write`. */
  readonly methods?: readonly string[];
  /** Requests in one call that are charged to this capability, redirects included. */
  readonly requests?: number;
  /** Decompressed response bytes and request bytes of those requests. */
  readonly bytes?: number;
}

interface NetNeed<Kind extends NetKind> extends WebNeed {
  readonly kind: Kind;
}

/** Reading over HTTP. */
export const netRead: Family = /* @__PURE__ */ netFamily("net.read", readMethods);

/** Changing over HTTP. */
export const netWrite: Family = /* @__PURE__ */ netFamily("net.write", ["POST", "PUT", "PATCH", "DELETE"]);

function netTargets(kind: NetKind, defaultMethods: readonly string[]): TargetSpec<NetCapability, NetNeed<NetKind>> {
  return {
    required: ["url"],
    optional: ["method"],
    needs({ url: text, method: name }, { methods = defaultMethods }) {
      const url = readUrl(text);
      if (!url.ok) return `${url.error.message} ${url.error.hint}`.trim();
      // Whether the name is public is for the broker to say, at the gate.
      const place = { kind, ...urlPlace(url.value), isPublic: true };
      if (name === undefined) return methods.map((method) => ({ ...place, method }));
      const method = readMethod(name);
      if (!method.ok) return method.error.message;
      return kindOfMethod(method.value) === kind ? [{ ...place, method: method.value }] : [];
    },
  };
}

/** A method is a request of one kind. Effect, mode and rules go by the kind. */
function methodFault(kind: NetKind, methods: readonly string[]): CapabilityFault | undefined {
  const index = methods.findIndex((method) => kindOfMethod(method) !== kind);
  if (index < 0) return undefined;
  const [method, other] = [methods[index], kind === "net.read" ? "net.write" : "net.read"];
  return {
    path: `/methods/${index}`,
    message: `${method} is a request of ${other}. Write it into a capability of ${other}.`,
  };
}

function netFamily(kind: NetKind, defaultMethods: readonly string[]): Family {
  return defineFamily<NetCapability, NetNeed<NetKind>>({
    kind,
    title: kind === "net.read" ? "Reads from the network" : "Writes to the network",
    effect: kind === "net.read" ? "reads" : "changes",
    fields: { ...webFields(), requests: count, bytes: count },
    need: webNeed,
    check: ({ methods = [] }) => methodFault(kind, methods),
    covers: (capability) => coversWeb(capability, defaultMethods),
    describe: describeWeb,
    target: webTarget,
    notPlain: webFault,
    narrowest(need) {
      const place = narrowestWeb(need);
      return place && { kind, ...place, requests: 1 };
    },
    conditions: webConditions(),
    sample: ({ host = "example.com", method = "GET", path = "/" }) => ({ kind, method, host, port: 443, path }),
    targetArguments: netTargets(kind, defaultMethods),
    destination: (need) => need,
    isNarrow: isNarrowWeb,
    budget: ({ requests, bytes }) => ({ requests, bytes }),
  });
}

export type ToolFetch = (url: string | URL, init?: ToolRequestInit) => Promise<Response>;

export interface ToolRequestInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>> | readonly (readonly [string, string])[];
  readonly body?: string | Uint8Array;
}

/** The network broker's answer to `fetch`. */
interface FetchReply {
  readonly url: string;
  readonly status: number;
  readonly statusText?: string;
  readonly redirected?: boolean;
  readonly headers: readonly (readonly [string, string])[];
}

/** The guest's half. */
export function fetchGuest(ask: Ask): ToolFetch {
  return async (url, init = {}) => {
    const method = (init.method ?? "GET").toUpperCase();
    const headers = headerPairs(init.headers ?? []);
    const body = init.body === undefined ? undefined : bodyBytes(init.body);
    if (typeof init.body === "string" && !headers.some(([name]) => name.toLowerCase() === "content-type")) {
      headers.push(["content-type", "text/plain;charset=UTF-8"]); // As `fetch` says for text (Fetch, "extract a body").
    }
    const { value, body: received } = await ask<FetchReply>({
      kind: kindOfMethod(method),
      operation: "fetch",
      arguments: { url: String(url), method, headers },
      ...(body !== undefined && { body }),
    });
    return responseOf(value, received);
  };
}

function headerPairs(headers: NonNullable<ToolRequestInit["headers"]>): [string, string][] {
  const pairs: Iterable<readonly [string, unknown]> = Array.isArray(headers) ? headers : Object.entries(headers);
  // A hole is no pair: it throws.
  return Array.from(pairs, ([name, value]) => [String(name), String(value)]);
}

/** Statuses whose responses have no body; the constructor refuses one (Fetch, "null body status"). */
const bodiless = [101, 204, 205, 304];

function responseOf(reply: FetchReply, body: Uint8Array | undefined): Response {
  const { status, statusText = "", headers, url, redirected = false } = reply;
  const bytes = bodiless.includes(status) ? null : ((body ?? null) as Uint8Array<ArrayBuffer> | null);
  const response = new Response(bytes, {
    status,
    statusText,
    headers: headers.map(([name, value]) => [name, value]),
  });
  // A constructed response has no address of its own.
  Object.defineProperty(response, "url", { value: url, enumerable: true });
  Object.defineProperty(response, "redirected", { value: redirected, enumerable: true });
  return response;
}
