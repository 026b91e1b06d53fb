import { Hono } from "hono";
import { cors } from "hono/cors";
import { authenticate, type Identity, readTokens } from "./auth.ts";
import { httpProblem, problemOf } from "./problem.ts";
import { causeOf, readinessAnswer, type ReadinessCause } from "./readiness.ts";
import { drainUntouched } from "./drain-body.ts";

export interface GatewaySettings {
  readonly tokens: string | undefined;
  readonly origins: string | undefined;
}

/** What stands behind the gateway. */
export interface Backend<Env> {
  /** Takes a request to the kernel of its sender, who is known by now. */
  readonly forward: (request: Request, identity: Identity, env: Env) => Promise<Response>;
  /** Why calls of this tenant would not be served now; empty when they would. Default: they always would. */
  readonly causes?: (env: Env, tenant: string) => Promise<readonly ReadinessCause[]>;
}

/** Carries the sender to the kernel object. Only the gateway sets it: whatever a client sends under this name is replaced. */
export const identityHeader = "keyhole-identity";

const answerHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

/**
 * The front of the service: every request passes here before it reaches a kernel. Only `/livez` and `/healthz` answer without a token.
 *
 * @param settingsOf reads the settings from the environment, once per request
 */
export function createGateway<Env extends object>(
  settingsOf: (env: Env) => GatewaySettings,
  { forward, causes = async () => [] }: Backend<Env>,
): Hono<{ Bindings: Env }> {
  const app = new Hono<{ Bindings: Env }>();
  app.use(drainUntouched);
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(answerHeaders)) c.res.headers.set(name, value);
  });
  app.use((c, next) => allowOrigins(settingsOf(c.env).origins)(c, next));
  app.get("/livez", (c) => c.json({ status: "ok" }));
  app.get("/healthz", async (c) => {
    const tenant = probedTenant(settingsOf(c.env).tokens);
    return mutable(readinessAnswer(typeof tenant === "string" ? await causes(c.env, tenant) : [tenant]));
  });
  app.all("/v1/*", async (c) => {
    const identity = await authenticate(c.req.header("authorization") ?? null, readTokens(settingsOf(c.env).tokens));
    const headers = new Headers(c.req.raw.headers);
    headers.delete("authorization");
    headers.set(identityHeader, encodeURIComponent(JSON.stringify(identity)));
    return mutable(await forward(new Request(c.req.raw, { headers }), identity, c.env));
  });
  app.notFound(() => httpProblem("NOT_FOUND", "This service has no resource at this address."));
  app.onError((error) => problemOf(error));
  return app;
}

/** One tenant stands for all: they share every setting, and a probe must not wake each tenant's kernel. */
function probedTenant(tokens: string | undefined): string | ReadinessCause {
  try {
    const tenants = readTokens(tokens).map(({ identity }) => identity.tenant);
    if (tenants.includes("default")) return "default";
    return (
      tenants[0] ?? {
        code: "UNAUTHENTICATED",
        detail: "KEYHOLE_TOKENS has no token, so the service refuses every caller.",
      }
    );
  } catch (error) {
    return causeOf(error, "The tokens cannot be read.");
  }
}

/** A response from another object has headers that cannot be changed. */
function mutable(response: Response): Response {
  return new Response(response.body, response);
}

function allowOrigins(origins = ""): ReturnType<typeof cors> {
  const allowed = new Set(origins.split(/[\s,]+/).filter(Boolean));
  return cors({
    origin: (origin) => (allowed.has(origin) ? origin : null),
    allowMethods: ["GET", "POST", "DELETE"],
    allowHeaders: ["authorization", "content-type", "accept", "idempotency-key", "keyhole-call", "traceparent"],
    exposeHeaders: ["keyhole-call-id", "retry-after", "www-authenticate"],
    maxAge: 600,
  });
}
