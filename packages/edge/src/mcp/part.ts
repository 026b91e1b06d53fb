import { knownOptions, type OptionNames } from "@keyhole/kernel/foreign";
import { type Capability, isOfDomain, parseUrl } from "@keyhole/kernel";
import {
  type ApprovalPages,
  approvalPages,
  type McpCaller,
  mcpHandler,
  type McpServerOptions,
  serverOptions,
  type SessionLimits,
  sessionLimits,
  type SubscriptionLimits,
  subscriptionLimits,
} from "@keyhole/mcp";
import { authenticate, type Identity, readTokens } from "../app/auth.ts";
import type { McpPart, McpServed } from "../app/mcp.ts";
import { approvalPath } from "../app/page-path.ts";
import { httpProblem, HttpRefusal, Misconfigured } from "../app/problem.ts";

/** A program's options of its endpoint. Callers, addresses and approvers follow from the settings of the service. */
export type EdgeMcpOptions = Omit<McpServerOptions, "approvals" | "content" | "clock" | "stateKey"> &
  SessionLimits &
  SubscriptionLimits;

const { approvals: _, content: __, clock: ___, stateKey: ____, ...chosenOptions } = serverOptions;
const known: OptionNames<EdgeMcpOptions> = { ...chosenOptions, ...sessionLimits, ...subscriptionLimits };

/**
 * `/mcp` in both eras of the protocol, beside the kernel of one tenant. A token needs the scopes `tools:read` and `tools:call`. Where `KEYHOLE_URL` is set, a question
 * has a page: it takes a token with the scope `approvals:write` that cannot call tools.
 *
 * @example
 * const Configured: KernelObjectClass = kernelObject({ tools, policy, mcp: edgeMcp() });
 */
export function edgeMcp(options: EdgeMcpOptions = {}): (served: McpServed) => McpPart {
  const given = knownOptions(options, known, "edgeMcp");
  return (served) => new EdgeMcp(served, given);
}

class EdgeMcp implements McpPart {
  readonly #callers = new WeakMap<Request, McpCaller>();
  readonly #pages: ApprovalPages | undefined;
  readonly #serve: (request: Request) => Promise<Response>;

  constructor(served: McpServed, options: EdgeMcpOptions) {
    const { kernel, content, clock, desk, settings } = served;
    const url = publicUrl(settings.url);
    this.#pages = url && pagesAt(url, served);
    const { fetch } = mcpHandler(kernel, {
      ...options,
      ...reachedAt(url, settings.origins),
      content,
      clock,
      approvals: this.#pages ?? { approver: desk.approverApart, url: () => undefined },
      authenticate: (request) => this.#callers.get(request) ?? new Response(null, { status: 401 }),
    });
    this.#serve = fetch;
  }

  serve(request: Request, { subject, tenant }: Identity, grants?: readonly Capability[]): Promise<Response> {
    this.#callers.set(request, { caller: subject, tenant, ...(grants && { grants }) });
    return this.#serve(request);
  }

  async page(request: Request): Promise<Response> {
    return (
      (await this.#pages?.fetch(request)) ??
      httpProblem("NOT_FOUND", "Pages need KEYHOLE_URL, and a token in KEYHOLE_TOKENS.")
    );
  }
}

/** @throws {Misconfigured} for what is no origin */
function publicUrl(setting = ""): URL | undefined {
  if (setting === "") return undefined;
  const url = parseUrl(setting);
  if (url && /^https?:$/.test(url.protocol) && url.origin === setting.replace(/\/$/, "")) return url;
  throw new Misconfigured("KEYHOLE_URL is not an origin, such as https://tools.example.com.");
}

/**
 * By which names clients and pages reach it. Cloudflare routes by name, so the `Host` of a request is the service's own. On this machine a page that pretends to be of another name has
 * its own `Origin`, and no token.
 */
function reachedAt(
  url: URL | undefined,
  setting = "",
): { readonly hosts: readonly string[] | "any"; readonly origins: readonly string[] } {
  const pages = setting.split(/[\s,]+/).flatMap((each) => parseUrl(each)?.hostname ?? []);
  const own = url && !loopback.includes(url.hostname) ? [url.hostname] : loopback;
  return { hosts: url ? own : "any", origins: [...own, ...pages] };
}

const loopback: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** `undefined` where no address would be hard to guess. */
function pagesAt(url: URL, { desk, policy, settings, tenant }: McpServed): ApprovalPages | undefined {
  const path = approvalPath(tenant, settings.tokens);
  if (path === undefined) return undefined;
  const rpId = policy.passkeys?.rpId;
  return approvalPages({
    origin: url.origin,
    path,
    desk,
    keys: (key) => approverOf(key, tenant, settings.tokens),
    ...(rpId !== undefined && isOfDomain(url.hostname, rpId) && { passkeys: { rpId } }),
  });
}

/** A token that calls tools approves nothing: the agent has it. */
async function approverOf(key: string, tenant: string, tokens: string | undefined): Promise<string | undefined> {
  try {
    const identity = await authenticate(`Bearer ${key.trim()}`, readTokens(tokens));
    const isApprover = identity.scopes.includes("approvals:write") && !identity.scopes.includes("tools:call");
    return isApprover && identity.tenant === tenant ? identity.subject : undefined;
  } catch (error) {
    if (error instanceof HttpRefusal) return undefined;
    throw error;
  }
}
