import { parseUrl } from "@keyhole/kernel";
import type { Oauth } from "@keyhole/mcp";
import * as v from "valibot";
import { type Identity, identitySchema } from "../app/auth.ts";
import type { McpAccess } from "../app/gateway.ts";
import { httpProblem } from "../app/problem.ts";
import type { Env } from "../env.ts";
import { gatewayWith } from "../gateway-worker.ts";

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
export function mcpGateway({ oauth }: McpGatewayOptions): ExportedHandler<Env> {
  return gatewayWith(accessBy(oauth));
}

function accessBy({ authenticate, resourceMetadata }: Oauth): McpAccess {
  const place = `/.well-known/oauth-protected-resource${parseUrl(resourceMetadata.resource)?.pathname ?? ""}`;
  return {
    metadata: (request) => (parseUrl(request.url)?.pathname === place ? Response.json(resourceMetadata) : undefined),
    async authenticate(request) {
      const caller = await authenticate(request);
      if (caller instanceof Response) return caller;
      const named = { subject: caller.caller, scopes: ["tools:read", "tools:call"], tenant: caller.tenant };
      const identity = v.safeParse(identitySchema, named);
      if (!identity.success) return httpProblem("FORBIDDEN", "The token names a caller or a tenant that is no name.");
      return { identity: identity.output satisfies Identity, ...(caller.grants && { grants: caller.grants }) };
    },
  };
}
