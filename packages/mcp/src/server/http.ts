import { isBoundedHost, type Kernel, limits, parseUrl } from "@keyhole/kernel";
import { BodyReader, knownOptions, type OptionNames } from "@keyhole/kernel/foreign";
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isInitializeRequest,
  isJsonContentType,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpHttpHandler,
  originValidationResponse,
} from "@modelcontextprotocol/server";
import type { Authenticate } from "./authenticate.ts";
import { authInfoOf, callerOf, type McpCaller, nameOf, sessionOf } from "./caller.ts";
import { metadataPath, type ResourceMetadata } from "./oauth.ts";
import { type McpServerOptions, serverOptions } from "./options.ts";
import { readJson } from "./read-json.ts";
import { refusal } from "./refusal.ts";
import { serverFor } from "./server.ts";
import { McpService } from "./service.ts";
import { type SessionLimits, sessionLimits, Sessions } from "./sessions.ts";
import { type SubscriptionLimits, subscriptionLimits, Subscriptions } from "./subscriptions.ts";
import { UnreadAnswers } from "./unread.ts";

export interface McpHandlerOptions extends McpServerOptions, SessionLimits, SubscriptionLimits {
  /** Says who sends a request. `bearerTokens` and `anyone` are such functions. */
  readonly authenticate: Authenticate;
  /** Served at its address of RFC 9728 without a token. `oauthTokens` makes it. */
  readonly resourceMetadata?: ResourceMetadata;
  /** The path of the endpoint. Default `/mcp`; any other path gets 404. */
  readonly path?: string;
  /** Names by which clients reach the server, without port. Default: those of the own machine. A request with another `Host` is refused: it comes from a page that pretends. `"any"`: the platform gives a service only requests for its own names. */
  readonly hosts?: readonly string[] | "any";
  /** Host names of pages that may send requests. Default: those of the own machine. A request without `Origin` comes from no page. */
  readonly origins?: readonly string[];
  /** Bytes of a request. Default: those of the largest input of a tool, and 64 KiB. */
  readonly requestBytes?: number;
  /** Bytes of answers that one caller's clients have not read. An answer beyond ends its connection, and requests get 429. Default 64 MiB. */
  readonly unreadBytes?: number;
}

export const handlerOptions: OptionNames<McpHandlerOptions> = {
  ...serverOptions,
  ...sessionLimits,
  ...subscriptionLimits,
  authenticate: true,
  resourceMetadata: true,
  path: true,
  hosts: true,
  origins: true,
  requestBytes: 1,
  unreadBytes: 1,
};

/** A kernel's tools over Streamable HTTP, in both eras. */
export interface McpHandler {
  /** Answers a request. Never rejects. */
  fetch(this: void, request: Request): Promise<Response>;
  /** Ends sessions, subscriptions and waiting calls. */
  close(): Promise<void>;
}

/**
 * Serves a kernel's tools over Streamable HTTP wherever there is `fetch`: Node, Workers, a service worker.
 *
 * @example
 * const handler = mcpHandler(kernel, { authenticate: bearerTokens([[token, { caller: "desk" }]]), hosts: ["tools.example.com"] });
 * export default { fetch: handler.fetch };
 */
export function mcpHandler(kernel: Kernel, options: McpHandlerOptions): McpHandler {
  const known = knownOptions(options, handlerOptions, "mcpHandler");
  return new HttpHandler(new McpService(kernel, known), known);
}

/** Eight of the largest answers that tools give. */
const UNREAD_BYTES = 67_108_864;

const LEGACY_SESSION = "mcp-session-id";

class HttpHandler implements McpHandler {
  readonly #service: McpService;
  readonly #options: McpHandlerOptions;
  readonly #sessions: Sessions;
  readonly #subscriptions: Subscriptions;
  readonly #bodies = new BodyReader();
  readonly #unread: UnreadAnswers;
  readonly #modern: McpHttpHandler;
  readonly #stop: () => void;

  constructor(service: McpService, options: McpHandlerOptions) {
    this.#service = service;
    this.#options = options;
    this.#subscriptions = new Subscriptions(options);
    this.#unread = new UnreadAnswers(options.unreadBytes ?? UNREAD_BYTES);
    const { kernel, clock } = service;
    this.#sessions = new Sessions(clock, options, (caller, id) =>
      serverFor(service, caller, caller.sessionId ?? `mcp-${id}`),
    );
    this.#modern = createMcpHandler(
      ({ authInfo }) => {
        const caller = callerOf(authInfo);
        if (!caller) throw new TypeError("A request has no caller.");
        return serverFor(service, caller, sessionOf(caller));
      },
      // Ours are bounded for each caller.
      { legacy: "reject", maxSubscriptions: Infinity, ...(options.onError && { onerror: options.onError }) },
    );
    const stopTools = kernel.onToolsChange(() => {
      this.#modern.notify.toolsChanged();
      void this.#sessions.notify("tools");
    });
    const stopLists = options.onListChange?.((list) => {
      if (list === "prompts") this.#modern.notify.promptsChanged();
      else this.#modern.notify.resourcesChanged();
      void this.#sessions.notify(list);
    });
    this.#stop = () => {
      stopTools();
      stopLists?.();
    };
  }

  readonly fetch = async (request: Request): Promise<Response> => {
    try {
      return await this.#serve(request);
    } catch (error) {
      this.#options.onError?.(error instanceof Error ? error : new Error(String(error)));
      return refusal(500, -32_603, "Internal server error");
    }
  };

  async close(): Promise<void> {
    this.#stop();
    this.#service.close();
    await Promise.all([this.#modern.close(), this.#sessions.close()]);
  }

  async #serve(request: Request): Promise<Response> {
    const { hosts = localhostAllowedHostnames(), origins = localhostAllowedOrigins(), path = "/mcp" } = this.#options;
    // The SDK gives both headers to the platform's URL, which takes very long for a long host.
    const isBounded = ["host", "origin"].every((name) => isBoundedHost(request.headers.get(name) ?? ""));
    if (!isBounded) return refusal(403, -32_000, "The Host or the Origin is too long.");
    const refused =
      (hosts === "any" ? undefined : hostHeaderValidationResponse(request, [...hosts])) ??
      originValidationResponse(request, [...origins]);
    if (refused) return refused;
    const { pathname } = parseUrl(request.url) ?? {};
    const metadata = this.#options.resourceMetadata;
    if (metadata && request.method === "GET" && pathname === metadataPath(metadata.resource))
      return Response.json(metadata);
    if (pathname !== path) return new Response(null, { status: 404 });
    const caller = await this.#options.authenticate(request);
    if (caller instanceof Response) return caller;
    const name = nameOf(caller);
    if (this.#unread.isFull(name)) return refusal(429, -32_000, "Too many answers wait for you. Read them first.");
    return this.#unread.count(name, await this.#serveFor(caller, request), request.signal);
  }

  async #serveFor(caller: McpCaller, request: Request): Promise<Response> {
    if (request.method !== "POST") return this.#withoutBody(request, caller);
    if (!isJsonContentType(request.headers.get("content-type")))
      return refusal(415, -32_000, "The Content-Type is not application/json.");
    const mostBytes = this.#options.requestBytes ?? limits.inputBytes + 65_536;
    const read = await readJson(this.#bodies, nameOf(caller), request, mostBytes);
    if (!read.ok) return refusal(read.status, read.code, read.message, read.id);
    if (Array.isArray(read.value))
      return refusal(400, -32_600, "Batches are not part of this protocol. Send one message at a time.");
    if (await isLegacyRequest(request, read.value)) return this.#legacy(request, caller, read.value);
    const known = { authInfo: authInfoOf(caller), parsedBody: read.value };
    if (!isSubscribing(read.value)) return this.#modern.fetch(request, known);
    return this.#subscriptions.open(nameOf(caller), request, (own) => this.#modern.fetch(own, known));
  }

  /** GET and DELETE belong to sessions; 2026-07-28 has neither. */
  async #withoutBody(request: Request, caller: McpCaller): Promise<Response> {
    const id = request.headers.get(LEGACY_SESSION);
    if (id !== null) return (await this.#sessions.serve(id, request, caller, undefined)) ?? noSession();
    const response = refusal(405, -32_000, "Method not allowed.");
    response.headers.set("allow", "POST");
    return response;
  }

  async #legacy(request: Request, caller: McpCaller, message: unknown): Promise<Response> {
    const id = request.headers.get(LEGACY_SESSION);
    if (id !== null) return (await this.#sessions.serve(id, request, caller, message)) ?? noSession();
    if (isInitializeRequest(message)) return this.#sessions.begin(request, caller, message);
    return refusal(
      400,
      -32_000,
      "The request names no session. Send `initialize` first, or the envelope of 2026-07-28.",
    );
  }
}

function isSubscribing(message: unknown): boolean {
  return (
    typeof message === "object" && message !== null && "method" in message && message.method === "subscriptions/listen"
  );
}

function noSession(): Response {
  return refusal(404, -32_001, "There is no such session.");
}
