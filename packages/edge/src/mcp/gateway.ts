import { knownOptions } from "@keyhole/kernel/foreign";
import type { Oauth } from "@keyhole/mcp";
import type { Env } from "../env.ts";
import { gatewayWith } from "../gateway-worker.ts";
import { accessBy } from "./access.ts";

export interface McpGatewayOptions {
  /** `oauthTokens` of `@keyhole/mcp`: tokens of an authorization server, for `/mcp` alone. `KEYHOLE_TOKENS` counts as well. */
  readonly oauth: Oauth;
}

/**
 * `gatewayWorker` that also takes access tokens of an authorization server at `/mcp`. The caller's `tenant` says whose kernel: default `default`.
 *
 * @example
 * export default mcpGateway({ oauth: oauthTokens({ issuer, resource: "https://tools.example.com/mcp", keys }) });
 */
export function mcpGateway(options: McpGatewayOptions): ExportedHandler<Env> {
  const { oauth } = knownOptions(options, { oauth: true }, "mcpGateway");
  return gatewayWith(accessBy(oauth));
}
