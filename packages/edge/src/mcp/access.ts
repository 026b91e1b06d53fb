import { parseUrl } from "@keyhole/kernel";
import { metadataPath, type Oauth } from "@keyhole/mcp";
import * as v from "valibot";
import { type Identity, identitySchema } from "../app/auth.ts";
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
      const named = { subject: caller.caller, scopes: ["tools:read", "tools:call"], tenant: caller.tenant };
      const identity = v.safeParse(identitySchema, named);
      if (!identity.success) return httpProblem("FORBIDDEN", "The token names a caller or a tenant that is no name.");
      return { identity: identity.output satisfies Identity, ...(caller.grants && { grants: caller.grants }) };
    },
  };
}
