import { type Ask, bodyBytes } from "../ask.ts";
import type { Governed } from "../capability.ts";
import { defineFamily } from "../define-family.ts";
import type { ConditionSpec, Family, TargetSpec } from "../family.ts";
import {
  areTexts,
  capabilityLimits,
  count,
  type Field,
  isAmount,
  isFlag,
  isLiteral,
  isText,
  listOf,
  optional,
  orAbsent,
  patterns,
} from "../fields.ts";
import { checkHeader } from "../matching/headers.ts";
import { checkGrantedHost, coversHost } from "../matching/hosts.ts";
import { hostCondition } from "../matching/host-condition.ts";
import { checkPathPrefix, pathGranter, pathToucher } from "../matching/url-paths.ts";
import { readMethod, readMethods, readUrl, urlPlace } from "../net-request.ts";

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

export interface NetCapability<Kind extends NetKind = NetKind> {
  readonly kind: Kind;
  /** ASCII hosts: exact, `*.example.com` (any public host below it, not itself) or `*` (any public host; in a manifest any host). */
  readonly hosts: readonly string[];
  /** Default: 80 and 443; in a manifest any port. */
  readonly ports?: readonly number[];
  /** Path prefixes, matched on whole segments. Default: any path. */
  readonly paths?: readonly string[];
  /** Default: GET and HEAD for `net.read`; POST, PUT, PATCH, DELETE for `net.write`. */
  readonly methods?: readonly string[];
  /** Names in lower case of headers beside the ordinary ones, which every tool may set. Default: none; in a manifest any. */
  readonly headers?: readonly string[];
  /** Requests in one call that are charged to this capability, redirects included. */
  readonly requests?: number;
  /** Decompressed response bytes and request bytes of those requests. */
  readonly bytes?: number;
}

interface NetNeed<Kind extends NetKind> {
  readonly kind: Kind;
  readonly method: string;
  /** Canonical, as `URL` gives it, without trailing dot. */
  readonly host: string;
  /** Whether the broker knows it for a name of the public internet: only such a one is reached by a wildcard. */
  readonly isPublic?: boolean;
  readonly port: number;
  readonly path: string;
  /** Names of the headers that are not ordinary. */
  readonly headers?: readonly string[];
}

const methodList: Field<readonly string[]> = /* @__PURE__ */ listOf({ type: "string", pattern: "^[A-Z]{1,20}$" }, 20);

const netConditions = (): Readonly<Record<string, ConditionSpec<NetNeed<NetKind>>>> => ({
  host: hostCondition(),
  path: {
    check: checkPathPrefix,
    isOwn: (pattern) => pattern.startsWith("/"),
    touches(prefixes) {
      const touches = pathToucher(prefixes);
      return ({ path }) => touches(path);
    },
  },
  method: {
    check: () => undefined,
    schema: methodList.schema,
    touches: (methods) => (need) => methods.includes(need.method),
  },
});

/** Reading over HTTP. */
export const netRead: Family = /* @__PURE__ */ netFamily("net.read", readMethods);

/** Changing over HTTP. */
export const netWrite: Family = /* @__PURE__ */ netFamily("net.write", ["POST", "PUT", "PATCH", "DELETE"]);

const named = ({ headers = [] }: Pick<NetNeed<NetKind>, "headers">): readonly string[] => headers;

function withHeaders(headers: readonly string[] | undefined): string {
  return headers ? ` with ${headers.join(", ")}` : "";
}

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
      const isOwn = readMethods.includes(method.value) === (kind === "net.read");
      return isOwn ? [{ ...place, method: method.value }] : [];
    },
  };
}

function netFamily(kind: NetKind, defaultMethods: readonly string[]): Family {
  return defineFamily<NetCapability, NetNeed<NetKind>>({
    kind,
    title: kind === "net.read" ? "Reads from the network" : "Writes to the network",
    effect: kind === "net.read" ? "reads" : "changes",
    fields: {
      hosts: patterns(checkGrantedHost),
      ports: optional(listOf({ type: "integer", minimum: 1, maximum: 65535 }, 100)),
      paths: optional(patterns(checkPathPrefix)),
      methods: optional(methodList),
      headers: optional(patterns(checkHeader)),
      requests: count,
      bytes: count,
    },
    need: {
      method: isText,
      host: isText,
      isPublic: orAbsent(isFlag),
      port: isAmount,
      path: isText,
      headers: orAbsent(areTexts),
    },
    covers({ hosts, ports, methods = defaultMethods, paths, headers }) {
      const isUnder = paths && pathGranter(paths);
      return (need, reading) =>
        coversHost(hosts, need, reading) &&
        ((reading === "wish" && ports === undefined) || (ports ?? [80, 443]).includes(need.port)) &&
        methods.includes(need.method) &&
        ((reading === "wish" && headers === undefined) || named(need).every((each) => headers?.includes(each))) &&
        (isUnder === undefined || isUnder(need.path));
    },
    describe: ({ hosts, ports, paths, headers }) =>
      `${hosts.join(", ")}${ports ? ` on port ${ports.join(", ")}` : ""}${paths ? ` under ${paths.join(", ")}` : ""}${withHeaders(headers)}`,
    target: ({ method, host, port, path, headers }) => `${method} ${host}:${port}${path}${withHeaders(headers)}`,
    narrowest({ host, port, method, path, headers }) {
      if (path.length > capabilityLimits.patternLength || !/^[A-Z]{1,20}$/.test(method)) return undefined;
      return {
        kind,
        hosts: [host],
        ports: [port],
        paths: [path],
        methods: [method],
        ...(headers && { headers }),
        requests: 1,
      };
    },
    conditions: netConditions(),
    sample: ({ host = "example.com", method = "GET", path = "/" }) => ({ kind, method, host, port: 443, path }),
    targetArguments: netTargets(kind, defaultMethods),
    destination: (need) => need,
    isNarrow: ({ hosts }) => isLiteral(hosts),
    budget: ({ requests, bytes }) => ({ requests, bytes }),
  });
}

export type ToolFetch = (url: string | URL, init?: ToolRequestInit) => Promise<Response>;

export interface ToolRequestInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>> | readonly (readonly [string, string])[];
  readonly body?: string | Uint8Array;
}

/** What the network broker answers to `fetch`. */
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
      kind: readMethods.includes(method) ? "net.read" : "net.write",
      operation: "fetch",
      arguments: { url: String(url), method, headers },
      ...(body !== undefined && { body }),
    });
    return responseOf(value, received);
  };
}

function headerPairs(headers: NonNullable<ToolRequestInit["headers"]>): [string, string][] {
  const pairs = Array.isArray(headers) ? (headers as readonly (readonly [string, string])[]) : Object.entries(headers);
  return pairs.map(([name, value]) => [String(name), String(value)]);
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
