import { Hono } from "hono";
import { cors } from "hono/cors";
import { authenticate, type Identity, readTokens } from "./auth.ts";
import { httpProblem, HttpRefusal, problemOf } from "./problem.ts";
import { kernelFault } from "./kernel-fault.ts";
import { causeOf, readinessAnswer, type ReadinessCause } from "./readiness.ts";
import { drainUntouched } from "./drain-body.ts";
import { approvalPages, approvalPath } from "./page-path.ts";

export interface GatewaySettings {
  readonly tokens: string | undefined;
  readonly origins: string | undefined;
}

/** The kernels behind the gateway. */
export interface Backend<Env> {
  /** Takes a request to the kernel of a tenant. The sender is known by now, except for an approval page, which takes a key of its own. */
  readonly forward: (request: Request, to: Pick<Identity, "tenant">, env: Env) => Promise<Response>;
  /** Why calls of this tenant would not be served now; empty when they would. Default: they always would. */
  readonly causes?: (env: Env, tenant: string) => Promise<readonly ReadinessCause[]>;
}

/** Tokens of an authorization server, for `/mcp` alone. */
export interface McpAccess {
  /** Metadata of RFC 9728; `undefined` for any other address. */
  metadata(request: Request): Response | undefined;
  /** The sender of a request, where `KEYHOLE_TOKENS` does not have its token. A `Response` refuses it. */
  authenticate(request: Request): Promise<{ readonly identity: Identity; readonly grants?: unknown } | Response>;
}

/** Carries the sender to the kernel object. Only the gateway sets it, and replaces a client's header of this name. */
export const identityHeader = "keyhole-identity";
/** Carries the grants that a token of an authorization server gives, likewise. */
export const grantsHeader = "keyhole-grants";

const answerHeaders = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;

/**
 * The front of the service: every request passes here before it reaches a kernel. Only `/livez`, `/healthz`, metadata and approval pages answer without a token.
 *
 * @param settingsOf reads the settings from the environment, once per request
 * @param access Default: only `KEYHOLE_TOKENS` says who sends a request
 */
export function createGateway<Env extends object>(
  settingsOf: (env: Env) => GatewaySettings,
  { forward, causes = async () => [] }: Backend<Env>,
  access?: McpAccess,
): Hono<{ Bindings: Env }> {
  const app = new Hono<{ Bindings: Env }>();
  const ask: typeof forward = async (...asked) => {
    const answer = forward(...asked); // What it throws at once is a bug of this Worker.
    return mutable(
      await answer.catch((error: unknown) => {
        throw kernelFault(error);
      }),
    );
  };
  app.use(drainUntouched);
  app.use(async (c, next) => {
    await next();
    // An approval page has stricter ones of its own, but for its style and form.
    const isPage = c.req.path.startsWith(approvalPages);
    for (const [name, value] of Object.entries(answerHeaders))
      if (!isPage || !c.res.headers.has(name)) c.res.headers.set(name, value);
  });
  app.use((c, next) => allowOrigins(settingsOf(c.env).origins)(c, next));
  app.get("/livez", (c) => c.json({ status: "ok" }));
  app.get("/healthz", async (c) => {
    const tenant = probedTenant(settingsOf(c.env).tokens, access !== undefined);
    return mutable(readinessAnswer(typeof tenant === "string" ? await causes(c.env, tenant) : [tenant]));
  });
  app.all("/v1/*", async (c) => {
    const identity = await authenticate(c.req.header("authorization") ?? null, readTokens(settingsOf(c.env).tokens));
    return ask(named(c.req.raw, identity), identity, c.env);
  });
  app.all("/mcp", async (c) => {
    const sender = await senderOf(c.req.raw, readTokens(settingsOf(c.env).tokens), access);
    if (sender instanceof Response) return mutable(sender);
    return ask(named(c.req.raw, sender.identity, sender.grants), sender.identity, c.env);
  });
  app.all(`${approvalPages}:tenant/:seal/:id`, async (c) => {
    const { tenant, seal } = c.req.param();
    const { tokens } = settingsOf(c.env);
    // A name that no token has must not make a kernel, and an address that no kernel has made must not wake one. Access tokens can name any tenant.
    const isKnown = access !== undefined || tenantsOf(tokens).includes(tenant);
    const isMade = approvalPath(tenant, tokens) === `${approvalPages}${encodeURIComponent(tenant)}/${seal}/`;
    return isKnown && isMade ? ask(named(c.req.raw), { tenant }, c.env) : notFound();
  });
  if (access) app.get("/.well-known/*", (c) => access.metadata(c.req.raw) ?? notFound());
  app.notFound(notFound);
  app.onError((error) => problemOf(error));
  return app;
}

function notFound(): Response {
  return httpProblem("NOT_FOUND", "This service has no resource at this address.");
}

/** A request as the kernel's object gets it: without the token, with its sender. */
function named(request: Request, identity?: Identity, grants?: unknown): Request {
  const headers = new Headers(request.headers);
  for (const name of ["authorization", identityHeader, grantsHeader]) headers.delete(name);
  if (identity) headers.set(identityHeader, encodeURIComponent(JSON.stringify(identity)));
  if (grants !== undefined) headers.set(grantsHeader, encodeURIComponent(JSON.stringify(grants)));
  return new Request(request, { headers });
}

type Sender = Exclude<Awaited<ReturnType<McpAccess["authenticate"]>>, Response>;

/** A token of the table counts first. */
async function senderOf(
  request: Request,
  table: ReturnType<typeof readTokens>,
  access: McpAccess | undefined,
): Promise<Sender | Response> {
  try {
    return { identity: await authenticate(request.headers.get("authorization"), table) };
  } catch (error) {
    if (access && error instanceof HttpRefusal && error.code !== "MISCONFIGURED") return access.authenticate(request);
    throw error;
  }
}

const tenantsOf = (tokens: string | undefined): readonly string[] =>
  Array.from(readTokens(tokens).values(), ({ tenant }) => tenant);

/** One tenant stands for all: they share every setting, and a probe must not wake each tenant's kernel. Access tokens, where the service takes them, need no table. */
function probedTenant(tokens: string | undefined, hasAccess: boolean): string | ReadinessCause {
  try {
    const tenants = tenantsOf(tokens);
    if (tenants.includes("default") || (hasAccess && tenants.length === 0)) return "default";
    return (
      tenants[0] ?? {
        code: "UNAUTHENTICATED",
        detail: "KEYHOLE_TOKENS has no token, so the service refuses every caller.",
      }
    );
  } catch (error) {
    return causeOf(error, "The gateway cannot read the tokens.");
  }
}

/** A response from another object has headers that cannot be changed. */
function mutable(response: Response): Response {
  return new Response(response.body, response);
}

const mcpHeaders = ["mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id"] as const;

function allowOrigins(origins = ""): ReturnType<typeof cors> {
  const allowed = new Set(origins.split(/[\s,]+/).filter(Boolean));
  return cors({
    origin: (origin) => (allowed.has(origin) ? origin : null),
    allowMethods: ["GET", "POST", "PUT", "DELETE"],
    allowHeaders: [
      "authorization",
      "content-type",
      "accept",
      "idempotency-key",
      "keyhole-call",
      "traceparent",
      ...mcpHeaders,
    ],
    exposeHeaders: ["keyhole-call-id", "retry-after", "www-authenticate", "mcp-session-id"],
    maxAge: 600,
  });
}
