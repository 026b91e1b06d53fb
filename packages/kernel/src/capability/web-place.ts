import type { ConditionSpec, Reading } from "./family.ts";
import {
  areTexts,
  capabilityLimits,
  type Field,
  type FieldsOf,
  type GuardsOf,
  isAmount,
  isFlag,
  isLiteral,
  isText,
  listOf,
  optional,
  orAbsent,
  patterns,
} from "./fields.ts";
import { checkHeader } from "./matching/headers.ts";
import { hostCondition } from "./matching/host-condition.ts";
import { checkGrantedHost, coversHost } from "./matching/hosts.ts";
import { checkPathPrefix, pathFault, pathGranter, pathToucher } from "./matching/url-paths.ts";

/*
 * Places of the web, as every family reads them that reaches one: hosts, ports, paths, methods and headers.
 */

/** The part of a capability that says which places it grants. */
export interface WebGrant {
  /** ASCII hosts: exact, `*.example.com` (any public host below it, not itself) or `*` (any public host; in a manifest any host). */
  readonly hosts: readonly string[];
  /** Default: 80 and 443; in a manifest any port. */
  readonly ports?: readonly number[];
  /** Path prefixes, matched on whole segments. Default: any path. */
  readonly paths?: readonly string[];
  readonly methods?: readonly string[];
  /** Names in lower case of headers beside the ordinary ones, which every tool may set. Default: none; in a manifest any. */
  readonly headers?: readonly string[];
}

/** One request to a place. */
export interface WebNeed {
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

export const webFields = (): FieldsOf<WebGrant & { readonly kind: string }> => ({
  hosts: patterns(checkGrantedHost),
  ports: optional(listOf({ type: "integer", minimum: 1, maximum: 65535 }, 100)),
  paths: optional(patterns(checkPathPrefix)),
  methods: optional(methodList),
  headers: optional(patterns(checkHeader)),
});

export const webNeed: GuardsOf<WebNeed & { readonly kind: string }> = {
  method: isText,
  host: isText,
  isPublic: /* @__PURE__ */ orAbsent(isFlag),
  port: isAmount,
  path: isText,
  headers: /* @__PURE__ */ orAbsent(areTexts),
};

export const webConditions = (): Readonly<Record<string, ConditionSpec<WebNeed>>> => ({
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

export function coversWeb(
  { hosts, ports, paths, methods, headers }: WebGrant,
  defaultMethods: readonly string[],
): (need: WebNeed, reading: Reading) => boolean {
  const isUnder = paths && pathGranter(paths);
  return (need, reading) =>
    coversHost(hosts, need, reading) &&
    ((reading === "wish" && ports === undefined) || (ports ?? [80, 443]).includes(need.port)) &&
    (methods ?? defaultMethods).includes(need.method) &&
    ((reading === "wish" && headers === undefined) ||
      (need.headers ?? []).every((each) => headers?.includes(each) === true)) &&
    (isUnder === undefined || isUnder(need.path));
}

export function describeWeb({ hosts, ports, paths, headers }: WebGrant): string {
  return `${hosts.join(", ")}${ports ? ` on port ${ports.join(", ")}` : ""}${paths ? ` under ${paths.join(", ")}` : ""}${withHeaders(headers)}`;
}

export function webTarget({ method, host, port, path, headers }: WebNeed): string {
  return `${method} ${host}:${port}${path}${withHeaders(headers)}`;
}

export const webFault = ({ path }: WebNeed): string | undefined => pathFault(path);

/** `undefined` for a request that no grant says literally. */
export function narrowestWeb({ host, port, method, path, headers }: WebNeed): WebGrant | undefined {
  if (path.length > capabilityLimits.patternLength || !/^[A-Z]{1,20}$/.test(method)) return undefined;
  return { hosts: [host], ports: [port], paths: [path], methods: [method], ...(headers && { headers }) };
}

export function isNarrowWeb({ hosts }: WebGrant): boolean {
  return isLiteral(hosts);
}

function withHeaders(headers: readonly string[] | undefined): string {
  return headers ? ` with ${headers.join(", ")}` : "";
}
