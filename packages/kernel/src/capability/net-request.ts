import { parseUrl } from "../support/parse-url.ts";
import type { BrokerError } from "./request.ts";

/*
 * The parts of a network request that say what it reaches. A broker reads each request here, and the family `net.*` reads the arguments that name a target.
 */

/** Methods of `net.read`. Any other method is asked for as `net.write`. */
export const readMethods: readonly string[] = ["GET", "HEAD"];

/** @param method in capitals */
export function kindOfMethod(method: string): "net.read" | "net.write" {
  return readMethods.includes(method) ? "net.read" : "net.write";
}

/** Some part on the way cuts or refuses longer ones; a tool that needs more sends a body. */
const urlLength = 8_192;

type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: BrokerError };

/** Parsed once; every check and the request itself use what this returns. Canonical: no credentials, no fragment, no trailing dot. */
export function readUrl(text: unknown, base?: URL): Read<URL> {
  if (typeof text !== "string") return invalid("`url` is not a string.");
  if (text.length > urlLength) return invalid(`A URL has at most ${urlLength} characters.`);
  // `URL` would drop tabs and line breaks, so that other readers of the same text see another host.
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return invalid("The URL has control characters.");
  const url = parseUrl(text, base?.href);
  if (url === undefined)
    return invalid(`${shown(text)} is not an absolute URL.`, "Write it as https://example.com/path.");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return denied(`The network serves http and https, not ${url.protocol.slice(0, 20)}`, "Use an https URL.");
  if (url.username !== "" || url.password !== "")
    return denied("The URL has a user name or a password.", "Send credentials in a header.");
  if (/%(?:[01][0-9a-f]|7f)/i.test(url.pathname)) return denied("The URL's path has encoded control characters.");
  if (url.port === "0") return denied("Port 0 is not a valid port.");
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  if (url.hostname.endsWith(".") || url.hostname === "") return invalid(`${shown(text)} has no valid host.`);
  url.hash = "";
  return { ok: true, value: url };
}

/** `fetch` itself forbids CONNECT, TRACE and TRACK; it leaves lower-case custom methods as they are, which servers refuse. */
export function readMethod(text: unknown): Read<string> {
  if (typeof text !== "string" || !/^[A-Za-z][A-Za-z-]{0,19}$/.test(text))
    return invalid("`method` is not the name of an HTTP method.");
  const method = text.toUpperCase();
  return ["CONNECT", "TRACE", "TRACK"].includes(method)
    ? denied(`The kernel does not serve the method ${method}.`)
    : { ok: true, value: method };
}

/** The members of a need from a canonical URL. */
export function urlPlace({ hostname: host, port, protocol, pathname: path }: URL): {
  readonly host: string;
  readonly port: number;
  readonly path: string;
} {
  return { host, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port), path };
}

function invalid(message: string, hint = ""): Read<never> {
  return { ok: false, error: { code: "INVALID_REQUEST", message, hint } };
}

function denied(message: string, hint = ""): Read<never> {
  return { ok: false, error: { code: "CAPABILITY_DENIED", message, hint } };
}

function shown(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
