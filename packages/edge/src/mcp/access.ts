import { parseUrl } from "@keyhole/kernel";
import { metadataPath, type Oauth } from "@keyhole/mcp";
import { identityOf } from "../app/auth.ts";
import type { McpAccess } from "../app/gateway.ts";
import { httpProblem } from "../app/problem.ts";

/** The door for tokens of an authorization server. */
export function accessBy({ authenticate, resourceMetadata }: Oauth): McpAccess {
  const place = metadataPath(resourceMetadata.resource);
  return {
    metadata: (request) => (parseUrl(request.url)?.pathname === place ? Response.json(resourceMetadata) : undefined),
    async authenticate(request) {
      const caller = await authenticate(request);
      if (caller instanceof Response) return caller;
      const { caller: subject, tenant = "default", grants } = caller;
      const identity = identityOf({ subject, scopes: ["tools:read", "tools:call"], tenant });
      if (!identity) return httpProblem("FORBIDDEN", "The token names a caller or a tenant that is no name.");
      return { identity, ...(grants && { grants }) };
    },
  };
}
