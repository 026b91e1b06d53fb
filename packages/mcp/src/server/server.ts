import { mcpJsonSchemaValidator } from "@keyhole/kernel/schema/mcp";
import type { JsonObject } from "@keyhole/kernel";
import {
  McpServer,
  type McpServerOptions as SdkOptions,
  ProtocolError,
  ProtocolErrorCode,
  type Tool,
} from "@modelcontextprotocol/server";
import type { McpCaller } from "./caller.ts";
import { serveContent } from "./content.ts";
import { servePassedOn } from "./passed-on.ts";
import type { McpService } from "./service.ts";
import { type ExchangeLine, ToolExchange } from "./tool-call.ts";

/** Both eras, and the version before the first one, which many clients still speak. */
const protocolVersions = ["2026-07-28", "2025-11-25", "2025-06-18"];

/** The SDK compares `Mcp-Param-*` headers with schemas of registered tools only. Ours are the kernel's. */
class KernelServer extends McpServer {
  readonly #schemaOf: (tool: string) => Record<string, unknown> | undefined;

  constructor(
    info: { readonly name: string; readonly version: string },
    options: SdkOptions,
    schemaOf: (tool: string) => Record<string, unknown> | undefined,
  ) {
    super(info, options);
    this.#schemaOf = schemaOf;
  }

  override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
    return this.#schemaOf(name);
  }
}

/** A server of the SDK for one caller, over one connection or, in 2026-07-28, for one request. Its tools are those that the caller may see. */
export function serverFor(service: McpService, caller: McpCaller, sessionId: string): McpServer {
  const { kernel: _, options, catalogue, states } = service;
  const { name = "keyhole", version = "0.0.0", instructions, content, extend } = options;
  const server = new KernelServer(
    { name, version },
    {
      capabilities: { tools: { listChanged: true }, logging: {} },
      ...(instructions !== undefined && { instructions }),
      supportedProtocolVersions: protocolVersions,
      jsonSchemaValidator: mcpJsonSchemaValidator(),
      requestState: {
        verify(text) {
          const state = states.read(text, caller);
          if (!state) throw new Error("The requestState has changed, is too old, or is another caller's.");
          return state;
        },
      },
    },
    (tool) => catalogue.find(caller, tool)?.definition.inputSchema,
  );
  server.server.setRequestHandler("tools/list", ({ params }) => {
    const page = catalogue.page(caller, params?.cursor);
    if (!page) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "The cursor is not one of this server.");
    // The kernel has checked that each input schema is of an object.
    return { ...page, tools: page.tools as Tool[] };
  });
  const line: ExchangeLine = { server, caller, sessionId };
  server.server.setRequestHandler("tools/call", ({ params }, ctx) => {
    const tool = catalogue.find(caller, params.name);
    if (!tool)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${JSON.stringify(params.name)}.`);
    return new ToolExchange(service, line, tool, (params.arguments ?? {}) as JsonObject, ctx).answer();
  });
  const readContent = content && serveContent(line, content, service.links);
  // In place of the SDK's own answers about resources.
  servePassedOn(service, line, readContent);
  extend?.(server, caller);
  return server;
}
