import type { McpEndpoint } from "@keyhole/mcp";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

interface Request {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly name?: string; readonly arguments?: Readonly<Record<string, unknown>> };
}

/** Sends a raw message to the client. */
type Send = (message: object) => void;

export interface ScriptedOptions {
  /** Default: 2025-11-25. */
  era?: "2026-07-28" | "2025-11-25";
  /** `false`: the SDK takes its connection for HTTP, and makes the calls of 2026-07-28. Default: true. */
  hasProcess?: boolean;
  tools?: readonly object[];
  /** Capabilities of the older era, beside tools. */
  announces?: object;
  /** The result of a call; `undefined` for none. `send` sends anything else. */
  call?: (request: Request, send: Send) => object | undefined | void;
  /** Instead of a list of tools. */
  list?: (request: Request, send: Send) => object | undefined | void;
}

/** A server that says exactly what it is told to, wrong or right. Each connection is a new process of it, so to say. */
export class Scripted implements McpEndpoint {
  readonly way: McpEndpoint["way"];
  readonly capabilities: McpEndpoint["capabilities"] = [];
  readonly effects: McpEndpoint["effects"] = [];
  readonly needs: McpEndpoint["needs"] = [];
  readonly options: ScriptedOptions;
  /** All that the client sent, over all connections. */
  readonly heard: Request[] = [];
  connections = 0;
  /** To the newest connection. */
  send: Send = () => {};
  /** Ends the newest connection, as a server that dies. */
  die: () => void = () => {};

  constructor(options: ScriptedOptions = {}, way: McpEndpoint["way"] = {}) {
    this.options = options;
    this.way = way;
  }

  get calls(): readonly (string | undefined)[] {
    return this.heard.filter(({ method }) => method === "tools/call").map(({ params }) => params?.name);
  }

  open(): Transport {
    this.connections++;
    let isOpen = true;
    const { hasProcess = true } = this.options;
    const transport: Transport = {
      ...(hasProcess && { pid: 1, stderr: null }),
      start: async () => {},
      send: async (message) => {
        if (!isOpen) throw new Error("The server has ended.");
        this.heard.push(message as Request);
        queueMicrotask(() => this.#answer(message as Request, send));
      },
      close: async () => end(),
    };
    const send: Send = (message) => {
      if (isOpen) transport.onmessage?.({ jsonrpc: "2.0", ...message } as JSONRPCMessage);
    };
    const end = (): void => {
      if (!isOpen) return;
      isOpen = false;
      transport.onclose?.();
    };
    this.send = send;
    this.die = end;
    return transport;
  }

  #answer(request: Request, send: Send): void {
    const { id, method } = request;
    if (id === undefined || method === undefined) return;
    const result = this.#resultOf(request, send);
    if (result) send({ id, ...("error" in result ? result : { result }) });
  }

  #resultOf(request: Request, send: Send): object | undefined | void {
    const { tools = [plain("echo")], list, call, era } = this.options;
    const isModern = era === "2026-07-28";
    const kept = isModern && { resultType: "complete", ttlMs: 0, cacheScope: "private" };
    switch (request.method) {
      case "server/discover":
        if (isModern) return { ...kept, supportedVersions: [era], capabilities: { tools: {} } };
        return unknownMethod;
      case "initialize":
        if (isModern) return unknownMethod;
        return {
          protocolVersion: "2025-11-25",
          capabilities: { tools: { listChanged: true }, ...this.options.announces },
          serverInfo: { name: "scripted", version: "1.0.0" },
        };
      case "tools/list":
        return list ? list(request, send) : { tools, ...kept };
      case "tools/call":
        return call
          ? call(request, send)
          : { content: [{ type: "text", text: JSON.stringify(request.params?.arguments) }], ...kept };
      default:
        return unknownMethod;
    }
  }
}

const unknownMethod = { error: { code: -32_601, message: "Method not found" } };

export function plain(name: string, more: object = {}): object {
  return { name, description: `The tool ${name}.`, inputSchema: { type: "object" }, ...more };
}
