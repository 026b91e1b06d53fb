import { apartFromPage, knownOptions } from "@keyhole/kernel/foreign";
import { parseUrl } from "@keyhole/kernel";
import type { FetchLike } from "@modelcontextprotocol/client";
import type { McpEndpoint } from "./endpoint.ts";
import { HttpTransport } from "./http-transport.ts";
import { SignIn } from "./sign-in.ts";
import { type McpSignInOptions, signInOptions } from "./sign-in-options.ts";

export interface McpHttpEndpointOptions {
  readonly url: string;
  /** Sent with each request, such as an `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Signs in by OAuth 2.1 where the server asks for it. */
  readonly signIn?: McpSignInOptions;
  /** Default: the platform's. */
  readonly fetch?: FetchLike;
}

/**
 * A server over Streamable HTTP. Its tools need `net.read` and `net.write` for its host. The client refuses redirects.
 *
 * @throws TypeError for what is no URL of HTTP, and for a sign-in without issuers
 * @example
 * const server = mcpHttp({ url: "https://mcp.example.com/mcp", headers: { authorization: `Bearer ${token}` } });
 */
export function mcpHttp(options: McpHttpEndpointOptions): McpEndpoint {
  const {
    url,
    headers,
    signIn,
    fetch = globalThis.fetch,
  } = knownOptions(options, { url: true, headers: true, signIn: true, fetch: true }, "mcpHttp");
  const parsed = parseUrl(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) throw new TypeError(`${JSON.stringify(url)} is no URL of HTTP.`);
  const { protocol, pathname: path } = parsed;
  const host = parsed.hostname.replace(/\.$/, "");
  const port = parsed.port === "" ? (protocol === "https:" ? 443 : 80) : Number(parsed.port);
  const place = { host, port, path };
  const reach = { hosts: [host], ports: [port] };
  const send: FetchLike = (to, init) => fetch(to, { ...init, ...apartFromPage });
  const signed = signIn && new SignIn(parsed, knownOptions(signIn, signInOptions, "mcpHttp `signIn`"), send);
  return {
    ...(signed && { prepare: () => signed.prepare() }),
    way: { url: parsed.href },
    capabilities: [
      { kind: "net.read", ...reach },
      { kind: "net.write", ...reach },
    ],
    effects: ["net.read", "net.write"],
    // No broker has looked at the host, so a wildcard does not grant it.
    needs: [
      { kind: "net.read", method: "GET", ...place },
      { kind: "net.write", method: "POST", ...place },
    ],
    open: (options) => {
      const signing = (each: FetchLike): FetchLike => signed?.over(each) ?? each;
      return new HttpTransport({ url: parsed, headers, send, signing }, options);
    },
  };
}
