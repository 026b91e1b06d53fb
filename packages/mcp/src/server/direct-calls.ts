import type { JsonObject } from "@keyhole/kernel";
import {
  isCallToolResult,
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
} from "@modelcontextprotocol/server";
import { isId, isRecord } from "../message.ts";
import type { ListedTool } from "./catalogue.ts";
import type { ExchangeContext } from "./exchange-context.ts";
import type { McpService } from "./service.ts";
import { type ExchangeLine, ToolExchange } from "./tool-call.ts";

interface PlainCall {
  readonly tool: ListedTool;
  readonly input: JsonObject;
  readonly _meta: NonNullable<ExchangeContext["mcpReq"]["_meta"]>;
}

/** Members of a call's parameters. A call with any other one is the SDK's. */
const plainMembers: ReadonlySet<string> = new Set(["name", "arguments", "_meta"]);

/**
 * Plain calls of tools on a connection of 2025-11-25, without the SDK's server, which parses each message with seven schemas. The SDK has every other message, and
 * each call that can become a question, names an unknown tool or has another form.
 */
export class DirectCalls {
  readonly #service: McpService;
  readonly #send: (message: JSONRPCMessage) => Promise<void>;
  readonly #running = new Map<RequestId, AbortController>();
  #line: ExchangeLine | undefined;

  constructor(service: McpService, send: (message: JSONRPCMessage) => Promise<void>) {
    this.#service = service;
    this.#send = send;
  }

  /** The server of the connection, once it is known to be of the older era. */
  serve(line: ExchangeLine): void {
    this.#line = line;
  }

  /** `false` for a message that is the SDK's. */
  take(message: JSONRPCMessage): boolean {
    if (!("method" in message)) return false;
    if (!("id" in message)) return this.#cancels(message);
    const line = this.#line;
    if (message.method !== "tools/call" || !line || this.#running.has(message.id)) return false;
    // They come with `initialize`.
    const capabilities = line.server.server.getClientCapabilities();
    if (!capabilities || (capabilities.elicitation && this.#service.options.approvals)) return false;
    const call = this.#plain(line, message.params);
    if (!call) return false;
    void this.#answer(line, call, message);
    return true;
  }

  /** The connection is over, and its calls with it. */
  end(): void {
    for (const abort of this.#running.values()) abort.abort(new Error("The connection has ended."));
  }

  #plain({ caller }: ExchangeLine, params: unknown): PlainCall | undefined {
    if (!isRecord(params) || Object.keys(params).some((name) => !plainMembers.has(name))) return undefined;
    const { name, arguments: input = {}, _meta = {} } = params;
    if (typeof name !== "string" || !isRecord(input) || !isRecord(_meta)) return undefined;
    const token = _meta["progressToken"];
    if (token !== undefined && !isId(token)) return undefined;
    const tool = this.#service.catalogue.find(caller, name);
    const { questions } = this.#service.options;
    if (!tool || (questions && Object.hasOwn(questions, tool.manifest.name))) return undefined;
    return { tool, input: input as JsonObject, _meta };
  }

  #cancels({ method, params }: JSONRPCNotification): boolean {
    const id = method === "notifications/cancelled" ? params?.["requestId"] : undefined;
    const abort = this.#running.get(id as RequestId);
    abort?.abort(params?.["reason"]);
    return abort !== undefined;
  }

  async #answer(line: ExchangeLine, { tool, input, _meta }: PlainCall, { id }: JSONRPCRequest): Promise<void> {
    const abort = new AbortController();
    this.#running.set(id, abort);
    const { signal } = abort;
    try {
      const answer = await new ToolExchange(
        this.#service,
        line,
        tool,
        input,
        this.#context(line, _meta, signal),
      ).answer();
      if (!isCallToolResult(answer))
        throw new ProtocolError(ProtocolErrorCode.InternalError, "The tool gave no result of MCP.");
      if (!signal.aborted) await this.#send({ jsonrpc: "2.0", id, result: answer });
    } catch (error) {
      if (!signal.aborted) await this.#send({ jsonrpc: "2.0", id, error: errorOf(error) }).catch(() => {}); // The client is gone.
    } finally {
      this.#running.delete(id);
    }
  }

  #context({ server }: ExchangeLine, _meta: PlainCall["_meta"], signal: AbortSignal): ExchangeContext {
    return {
      mcpReq: {
        _meta,
        signal,
        notify: (notification) => this.#send({ jsonrpc: "2.0", ...notification }),
        log: (level, data) => server.sendLoggingMessage({ level, data }),
        requestState: () => undefined,
      },
    };
  }
}

function errorOf(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  if (!(error instanceof ProtocolError)) return { code: ProtocolErrorCode.InternalError, message: "Internal error" };
  const { code, message, data } = error;
  return { code, message, ...(data !== undefined && { data }) };
}
