import { type CapabilityRequest, checkHeader, type Need, parseUrl } from "@keyhole/kernel";
import { type Refused, refused } from "../fault.ts";
import { ordinaryHeaders } from "./headers.ts";
import { checkHost } from "./public-host.ts";

/** Longer ones are cut or refused somewhere on the way; a tool that needs more sends a body. */
const urlLength = 8_192;
const headerCount = 64;
const headerBytes = 16_384;

/** A request whose form is checked. What it may reach is the grant's to say. */
export interface NetRequest {
  /** Canonical: no credentials, no fragment, no trailing dot. */
  readonly url: URL;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Uint8Array;
}

export type Checked<Value> = { readonly ok: true; readonly value: Value } | Refused;

export function readRequest({ operation, arguments: args, body }: CapabilityRequest): Checked<NetRequest> {
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
  const headers = readHeaders(args["headers"] ?? []);
  if (!headers.ok) return headers;
  if (body && (method.value === "GET" || method.value === "HEAD")) {
    return refused(
      "INVALID_REQUEST",
      `A ${method.value} request has no body.`,
      "Send it as POST, or leave the body out.",
    );
  }
  return { ok: true, value: { url: url.value, method: method.value, headers: headers.value, ...(body && { body }) } };
}

/** Parsed once; every check and the request itself use what this returns. */
export function readUrl(text: unknown, base?: URL): Checked<URL> {
  if (typeof text !== "string") return refused("INVALID_REQUEST", "`url` is not a string.");
  if (text.length > urlLength) return refused("INVALID_REQUEST", `A URL has at most ${urlLength} characters.`);
  // `URL` would drop tabs and line breaks, so that other readers of the same text see another host.
  if (hasControl(text)) return refused("INVALID_REQUEST", "The URL has control characters.");
  const url = parseUrl(text, base?.href);
  if (url === undefined)
    return refused(
      "INVALID_REQUEST",
      `${shown(text)} is not an absolute URL.`,
      "Write it as https://example.com/path.",
    );
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return refused(
      "CAPABILITY_DENIED",
      `The network serves http and https, not ${url.protocol.slice(0, 20)}`,
      "Use an https URL.",
    );
  }
  if (url.username !== "" || url.password !== "") {
    return refused("CAPABILITY_DENIED", "The URL has a user name or a password.", "Send credentials in a header.");
  }
  if (/%(?:[01][0-9a-f]|7f)/i.test(url.pathname))
    return refused("CAPABILITY_DENIED", "The URL's path has encoded control characters.");
  if (url.port === "0") return refused("CAPABILITY_DENIED", "Port 0 is not a valid port.");
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  if (url.hostname.endsWith(".") || url.hostname === "")
    return refused("INVALID_REQUEST", `${shown(text)} has no valid host.`);
  url.hash = "";
  return { ok: true, value: url };
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 || (unit >= 0x7f && unit < 0xa0)) return true;
  }
  return false;
}

/** `fetch` itself forbids CONNECT, TRACE and TRACK; it leaves lower-case custom methods as they are, which servers refuse. */
function readMethod(text: unknown): Checked<string> {
  if (typeof text !== "string" || !/^[A-Za-z][A-Za-z-]{0,19}$/.test(text))
    return refused("INVALID_REQUEST", "`method` is not the name of an HTTP method.");
  const method = text.toUpperCase();
  if (["CONNECT", "TRACE", "TRACK"].includes(method))
    return refused("CAPABILITY_DENIED", `The method ${method} is not served.`);
  return { ok: true, value: method };
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
  kind: "net.read" | "net.write",
  { url, method, headers }: Pick<NetRequest, "url" | "method" | "headers">,
): Need {
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const host = url.hostname;
  const named = [...new Set(headers.map(([name]) => name))].filter((name) => !ordinaryHeaders.has(name));
  return {
    kind,
    method,
    host,
    port,
    path: url.pathname,
    ...(checkHost(host) === undefined && { isPublic: true }),
    ...(named.length > 0 && { headers: named }),
  };
}

function shown(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
