import type { Capability, ContentStore, Kernel, PolicyDocument, ToolFilter } from "@keyhole/kernel";
import { builtInFamilies, isDigest, modes, parseUrl } from "@keyhole/kernel";
import { BodyReader } from "@keyhole/kernel/foreign";
import type { ApprovalDesk } from "@keyhole/worker-host/approval-desk";
import { Hono, type MiddlewareHandler } from "hono";
import { answerBody, answerOf } from "./approvals.ts";
import { assertSubject, type Identity, identityOf, requireScope, type Scope } from "./auth.ts";
import { readBody } from "./body.ts";
import { type CallSurroundings, callRoute, previewRoute } from "./calls.ts";
import { checkOf } from "./check.ts";
import { grantsHeader, identityHeader } from "./gateway.ts";
import { HealthDesk } from "./health.ts";
import type { McpPart } from "./mcp.ts";
import { httpProblem, HttpRefusal, problemOf } from "./problem.ts";
import { kernelCauses, readinessAnswer, type ReadinessCause } from "./readiness.ts";
import { drainUntouched } from "./drain-body.ts";
import { Uploads } from "./upload.ts";

/** The kernel, log and settings of one tenant's routes. */
export interface Served {
  readonly kernel: Kernel;
  readonly desk: ApprovalDesk;
  readonly policy: PolicyDocument;
  /** The kernel's own. */
  readonly content: ContentStore;
  /** `/mcp` and the approval pages. Default: neither is there. */
  readonly mcp?: McpPart;
  /** Tools of a message bus, which each request may have to wait for. Default: none. */
  readonly bus?: { readonly causes: readonly ReadinessCause[]; readonly ready: () => Promise<void> };
  /** Rejects where the log's storage takes no write. Default: only a call finds out. */
  readonly probe?: () => Promise<void>;
}

export interface Variables {
  readonly identity: Identity;
}

export type Routes = Hono<{ Variables: Variables }>;

const auditPage = { default: 100, max: 1_000 } as const;

/** The address space of one kernel, behind the gateway. docs/http-api.md describes it. */
export function createRoutes(served: Served): Routes {
  const app: Routes = new Hono();
  const received = { bodies: new BodyReader(), uploads: new Uploads() };
  app.use(drainUntouched);
  app.use(async (_, next) => {
    await served.bus?.ready();
    await next();
  });
  // Asked by the gateway alone, which forwards nothing of this name.
  app.get("/healthz", async () => readinessAnswer([...(await kernelCauses(served)), ...(served.bus?.causes ?? [])]));
  routePages(app, served);
  app.use(async (c, next) => {
    c.set("identity", senderIn(c.req.header(identityHeader)));
    await next();
  });
  routeTools(app, served, received);
  routeRecords(app, served);
  routeApprovals(app, served, received.bodies);
  routeMcp(app, served);
  routeGovernance(app, served, received.bodies);
  refuseOtherMethods(app);
  app.notFound(notFound);
  app.onError((error) => problemOf(error));
  return app;
}

const notFound = (): Response => httpProblem("NOT_FOUND", "This service has no resource at this address.");

function routeTools(
  app: Routes,
  { kernel, desk }: Served,
  received: Pick<CallSurroundings, "bodies" | "uploads">,
): void {
  app.get("/v1/tools", allow("tools:read"), (c) =>
    c.json({ tools: kernel.list(toolFilter(c.req.url, c.var.identity)) }),
  );

  app.get("/v1/tools/:name", allow("tools:read"), (c) => {
    const versions = kernel.list().filter(({ manifest }) => manifest.name === c.req.param("name"));
    if (versions.length === 0)
      return httpProblem("NOT_FOUND", `There is no tool ${JSON.stringify(c.req.param("name").slice(0, 128))}.`);
    return c.json({ versions });
  });

  app.post("/v1/tools/:name/calls", allow("tools:call"), (c) =>
    callRoute({ kernel, desk, identity: c.var.identity, ...received }, c.req.param("name"), c.req.raw),
  );

  app.post("/v1/tools/:name/preview", allow("tools:call"), (c) =>
    previewRoute({ kernel, desk, identity: c.var.identity, ...received }, c.req.param("name"), c.req.raw),
  );

  const health = new HealthDesk(kernel);
  app.post("/v1/tools/:name/health", allow("tools:call"), (c) => health.answer(c.req.param("name"), c.var.identity));
}

/** The stored records of calls: the events of the log, and values under their digests. */
function routeRecords(app: Routes, { kernel, content }: Served): void {
  app.get("/v1/audit", allow("audit:read"), async (c) => {
    const { from, limit } = auditRange(c.req.url);
    const events = await kernel.audit.read(from, limit);
    return c.json({ events, next: (events.at(-1)?.seq ?? from - 1) + 1 });
  });

  app.get("/v1/content/:digest", allow("content:read"), async (c) => {
    const digest = c.req.param("digest");
    const bytes = isDigest(digest) ? await content.get(digest) : undefined;
    if (!bytes) return httpProblem("NOT_FOUND", "The service stores no content with this digest.");
    return c.body(bytes as Uint8Array<ArrayBuffer>, 200, { "content-type": "application/octet-stream" });
  });
}

function routeApprovals(app: Routes, { kernel, desk }: Served, bodies: BodyReader): void {
  app.get("/v1/approvals", allow("approvals:write"), (c) =>
    c.json({ approvals: desk.list(), standing: kernel.approvals.list() }),
  );

  app.post("/v1/approvals/:id", allow("approvals:write"), async (c) => {
    const { subject, scopes } = c.var.identity;
    const body = await readBody(c.req.raw, answerBody, { bodies, subject });
    const id = c.req.param("id");
    const open = desk.find(id);
    if (open?.isApart === true && scopes.includes("tools:call"))
      throw new HttpRefusal("FORBIDDEN", "A token that can call tools does not answer an MCP client's question.");
    const answered = open !== undefined && desk.answer(id, answerOf(body, open.request, subject));
    return answered ? c.body(null, 204) : httpProblem("NOT_FOUND", "No open approval has this id.");
  });

  app.delete("/v1/approvals/:id", allow("approvals:write"), async (c) => {
    const revoked = await kernel.approvals.revoke(c.req.param("id"), `Revoked by ${c.var.identity.subject}.`);
    return revoked ? c.body(null, 204) : httpProblem("NOT_FOUND", "No open approval has this id.");
  });
}

const modeBody = checkOf({
  type: "object",
  properties: { mode: { enum: modes }, reason: { type: "string", maxLength: 500 } },
  required: ["mode", "reason"],
  additionalProperties: false,
});

function routeGovernance(app: Routes, { kernel, policy }: Served, bodies: BodyReader): void {
  app.get("/v1/policy", allow("policy:read"), (c) =>
    c.json({ mode: kernel.mode, policyHash: kernel.policyHash, policy }),
  );

  app.get("/v1/mode", allow("mode:write"), (c) => c.json({ mode: kernel.mode }));

  app.put("/v1/mode", allow("mode:write"), async (c) => {
    const { subject } = c.var.identity;
    const { mode, reason } = await readBody(c.req.raw, modeBody, { bodies, subject });
    await kernel.setMode(mode, reason, subject);
    return c.json({ mode: kernel.mode });
  });
}

/** The gateway forwards them without a sender: the page takes a key. */
function routePages(app: Routes, { mcp }: Served): void {
  app.all("/approvals/*", (c) => mcp?.page(c.req.raw) ?? notFound());
}

function routeMcp(app: Routes, { mcp }: Served): void {
  if (!mcp) return;
  app.all("/mcp", (c) => {
    // A list shows tools, and the same session calls them.
    for (const scope of ["tools:read", "tools:call"] as const) requireScope(c.var.identity, scope);
    const grants = c.req.header(grantsHeader);
    return mcp.serve(c.req.raw, c.var.identity, grants === undefined ? undefined : capabilitiesIn(grants));
  });
}

/** The gateway wrote them; the kernel checks them as it checks the grants of any call. */
function capabilitiesIn(header: string): readonly Capability[] {
  return JSON.parse(decodeURIComponent(header)) as readonly Capability[];
}

function allow(scope: Scope): MiddlewareHandler<{ Variables: Variables }> {
  return async (c, next) => {
    requireScope(c.var.identity, scope);
    await next();
  };
}

/** The gateway wrote it; anything else means that the object was reached some other way. */
function senderIn(header = ""): Identity {
  const identity = identityOf(JSON.parse(decodeURIComponent(header)));
  if (!identity) throw new TypeError("The request has no sender.");
  return identity;
}

/** After the routes: a path that exists refuses every other method with the ones that it has (RFC 9110, 15.5.6). */
function refuseOtherMethods(app: Routes): void {
  const methods = new Map<string, Set<string>>();
  for (const { method, path } of app.routes) {
    if (method === "ALL") continue;
    const known = methods.get(path) ?? new Set<string>();
    methods.set(path, known.add(method));
    if (method === "GET") known.add("HEAD");
  }
  for (const [path, known] of methods) {
    const allowed = [...known].join(", ");
    app.all(path, () => httpProblem("METHOD_NOT_ALLOWED", `Here only ${allowed} applies.`, { allow: allowed }));
  }
}

const filterCheck = checkOf({
  type: "object",
  properties: {
    mode: { enum: modes },
    category: { type: "string" },
    tier: { enum: [0, 1, 2, 3, 4] },
    effect: { enum: builtInFamilies.effects },
    text: { type: "string" },
    caller: { type: "string" },
  },
  additionalProperties: false,
});

/** @throws {HttpRefusal} for the tools of another caller */
function toolFilter(url: string, identity: Identity): ToolFilter {
  const filter = filterCheck("query", withNumbers(queryOf(url), ["tier"]));
  assertSubject(identity, filter.caller);
  return filter;
}

const rangeCheck = checkOf({
  type: "object",
  properties: {
    from: { type: "integer", minimum: 0, default: 0 },
    limit: { type: "integer", minimum: 0, maximum: auditPage.max, default: auditPage.default },
  },
  additionalProperties: false,
});

function auditRange(url: string): { readonly from: number; readonly limit: number } {
  return rangeCheck("query", withNumbers(queryOf(url), ["from", "limit"]));
}

/** Of a name that stands twice, each reader takes another one: the edge takes neither. */
function queryOf(url: string): Record<string, string> {
  const parameters = [...(parseUrl(url)?.searchParams ?? [])];
  const names = parameters.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined)
    throw new HttpRefusal("INVALID_REQUEST", `The query has ${JSON.stringify(twice.slice(0, 64))} twice.`);
  return Object.fromEntries(parameters);
}

/** Everything in a query is text: a text that reads as an expected number becomes the number. */
function withNumbers(query: Record<string, string>, names: readonly string[]): Record<string, unknown> {
  const entries = Object.entries(query).map(([name, text]) => {
    const isNumber = names.includes(name) && /^-?\d{1,15}(?:\.\d+)?$/.test(text);
    return [name, isNumber ? Number(text) : text] as const;
  });
  return Object.fromEntries(entries);
}
