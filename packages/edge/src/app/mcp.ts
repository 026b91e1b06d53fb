import type { Capability, Clock, ContentStore, Kernel, PolicyDocument } from "@keyhole/kernel";
import type { ApprovalDesk } from "@keyhole/worker-host/approval-desk";
import type { Identity } from "./auth.ts";

/** The kernel and settings of the part for MCP. */
export interface McpServed {
  readonly kernel: Kernel;
  readonly desk: ApprovalDesk;
  readonly content: ContentStore;
  readonly policy: PolicyDocument;
  /** The kernel's own. */
  readonly clock: Clock;
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
