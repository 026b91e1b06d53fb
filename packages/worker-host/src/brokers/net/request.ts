import {
  type CapabilityRequest,
  checkHeader,
  kindOfMethod,
  type Need,
  readMethod,
  readUrl,
  urlPlace,
} from "@keyhole/kernel";
import { type Refused, refused } from "../fault.ts";
import { ordinaryHeaders } from "./headers.ts";
import { checkHost } from "./public-host.ts";

const headerCount = 64;
const headerBytes = 16_384;

/** A request with a checked form. The grant decides about its target. */
export interface NetRequest {
  /** Canonical: no credentials, no fragment, no trailing dot. */
  readonly url: URL;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Uint8Array;
}

export type Checked<Value> = { readonly ok: true; readonly value: Value } | Refused;

export function readRequest({ kind, operation, arguments: args, body }: CapabilityRequest): Checked<NetRequest> {
  if (operation !== "fetch")
    return refused(
      "INVALID_REQUEST",
      `The network has no operation ${JSON.stringify(operation.slice(0, 40))}.`,
      "Use `fetch`.",
    );
  const url = readUrl(args["url"]);
  if (!url.ok) return url;
  const method = readMethod(args["method"] ?? "GET");
  if (!method.ok) return method;
  const wanted = kindOfMethod(method.value);
  if (kind !== wanted)
    return refused("INVALID_REQUEST", `The method ${method.value} belongs to ${wanted}, not to ${kind.slice(0, 100)}.`);
  const headers = readHeaders(args["headers"] ?? []);
  if (!headers.ok) return headers;
  if (body && wanted === "net.read") {
    return refused(
      "INVALID_REQUEST",
      `A ${method.value} request has no body.`,
      "Send it as POST, or leave the body out.",
    );
  }
  return { ok: true, value: { url: url.value, method: method.value, headers: headers.value, ...(body && { body }) } };
}

function readHeaders(list: unknown): Checked<readonly (readonly [string, string])[]> {
  if (!Array.isArray(list)) return refused("INVALID_REQUEST", "`headers` is not a list of [name, value].");
  if (list.length > headerCount) return refused("INVALID_REQUEST", `A request has at most ${headerCount} headers.`);
  const headers: [string, string][] = [];
  let bytes = 0;
  for (const pair of list as readonly unknown[]) {
    const [name, value] = Array.isArray(pair) ? (pair as readonly unknown[]) : [];
    if (typeof name !== "string" || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name))
      return refused("INVALID_REQUEST", "The name of a header is not an HTTP token.");
    if (typeof value !== "string" || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return refused("INVALID_REQUEST", `The value of the header ${name} has characters that HTTP does not carry.`);
    }
    const lower = name.toLowerCase();
    if (checkHeader(lower) !== undefined) {
      return refused(
        "CAPABILITY_DENIED",
        `A tool may not set the header ${name}.`,
        "Omit the header. No grant gives it.",
      );
    }
    bytes += name.length + value.length;
    headers.push([lower, value]);
  }
  return bytes > headerBytes
    ? refused("INVALID_REQUEST", `The headers of a request have at most ${headerBytes} bytes.`)
    : { ok: true, value: headers };
}

export function needOf(
  kind: "net.read" | "net.write" | "browser.page",
  { url, method, headers }: Pick<NetRequest, "url" | "method" | "headers">,
): Need {
  const place = urlPlace(url);
  const named = [...new Set(headers.map(([name]) => name))].filter((name) => !ordinaryHeaders.has(name));
  return {
    kind,
    method,
    ...place,
    ...(checkHost(place.host) === undefined && { isPublic: true }),
    ...(named.length > 0 && { headers: named }),
  };
}
