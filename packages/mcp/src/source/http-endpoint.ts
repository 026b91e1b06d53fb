import { parseUrl } from "@keyhole/kernel";
import {
  type FetchLike,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
} from "@modelcontextprotocol/client";
import { boundedFetch } from "./bounded-fetch.ts";
import type { McpEndpoint } from "./endpoint.ts";

export interface McpHttpEndpointOptions {
  readonly url: string;
  /** Sent with each request, such as an `Authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Signs in by OAuth: a provider of the SDK. */
  readonly authProvider?: StreamableHTTPClientTransportOptions["authProvider"];
  /** Default: the platform's. */
  readonly fetch?: FetchLike;
}

/**
 * A server that is reached over Streamable HTTP. Its tools need `net.read` and `net.write` for its host. Redirects are refused.
 *
 * @throws TypeError for what is no URL of HTTP
 * @example
 * const server = mcpHttp({ url: "https://mcp.example.com/mcp", headers: { authorization: `Bearer ${token}` } });
 */
export function mcpHttp({ url, headers, authProvider, fetch = globalThis.fetch }: McpHttpEndpointOptions): McpEndpoint {
  const parsed = parseUrl(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol)) throw new TypeError(`${JSON.stringify(url)} is no URL of HTTP.`);
  const { hostname, protocol } = parsed;
  const port = parsed.port === "" ? (protocol === "https:" ? 443 : 80) : Number(parsed.port);
  const reach = { hosts: [hostname], ports: [port] };
  return {
    capabilities: [
      { kind: "net.read", ...reach },
      { kind: "net.write", ...reach },
    ],
    effects: ["net.read", "net.write"],
    open: (options) =>
      new StreamableHTTPClientTransport(parsed, {
        fetch: boundedFetch(fetch, options),
        ...(headers && { requestInit: { headers: { ...headers } } }),
        ...(authProvider && { authProvider }),
      }),
  };
}
