import type { McpHandler } from "@keyhole/mcp";

const prefix = "io.modelcontextprotocol/";

/** Messages of 2026-07-28 as a client without an SDK would send them. */
function envelope(capabilities: object = {}): Record<string, unknown> {
  return {
    [`${prefix}protocolVersion`]: "2026-07-28",
    [`${prefix}clientInfo`]: { name: "raw", version: "1.0.0" },
    [`${prefix}clientCapabilities`]: capabilities,
  };
}

export interface RawAnswer {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface Raw {
  readonly method: string;
  readonly params?: Record<string, unknown>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly capabilities?: object;
}

export function request({ method, params = {}, headers = {}, capabilities = {} }: Raw): Request {
  const name = typeof params["name"] === "string" ? { "mcp-name": params["name"] } : {};
  const body = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: envelope(capabilities) } };
  return post(JSON.stringify(body), {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...name,
    ...headers,
  });
}

export function post(body: BodyInit, headers: Readonly<Record<string, string>> = {}): Request {
  const own = { host: "127.0.0.1", "content-type": "application/json", accept: "application/json, text/event-stream" };
  return new Request("http://127.0.0.1/mcp", {
    method: "POST",
    headers: { ...own, ...headers },
    body,
    duplex: "half",
  } as RequestInit);
}

export async function send(handler: McpHandler, raw: Raw): Promise<RawAnswer> {
  return answerOf(await handler.fetch(request(raw)));
}

export async function answerOf(response: Response): Promise<RawAnswer> {
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const frames = text.split("\n").filter((line) => line.startsWith("data: "));
  return JSON.parse(isStream ? (frames.at(-1) ?? "").slice(6) : text) as RawAnswer;
}
