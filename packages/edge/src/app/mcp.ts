import type { Capability, ContentStore, Kernel, PolicyDocument } from "@keyhole/kernel";
import type { ApprovalDesk } from "./approvals.ts";
import { type Identity, requireScope } from "./auth.ts";
import { grantsHeader } from "./gateway.ts";
import type { Routes, Served } from "./routes.ts";

/** What the part for MCP works on. */
export interface McpServed {
  readonly kernel: Kernel;
  readonly desk: ApprovalDesk;
  readonly content: ContentStore;
  readonly policy: PolicyDocument;
  readonly tenant: string;
  /** The settings of these names, without the prefix `KEYHOLE_`. */
  readonly settings: Readonly<Record<"tokens" | "origins" | "url", string | undefined>>;
}

/** MCP for one kernel. Only `@keyhole/edge/mcp` imports the SDK. */
export interface McpPart {
  /** Answers a request to `/mcp`. */
  serve(request: Request, identity: Identity, grants: readonly Capability[] | undefined): Promise<Response>;
  /** An approval page, or an answer that a person gives there. */
  page(request: Request): Promise<Response>;
}

/** The gateway forwards them without a sender: the page takes a key. */
export function routePages(app: Routes, { mcp }: Served): void {
  if (mcp) app.all("/approvals/*", (c) => mcp.page(c.req.raw));
}

export function routeMcp(app: Routes, { mcp }: Served): void {
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
