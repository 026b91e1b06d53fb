import { createKernel, defineTool, type Kernel } from "@keyhole/kernel";
import { anyone } from "@keyhole/mcp";
import { type McpHttpServer, serveMcpHttp } from "@keyhole/mcp/node";
import type { McpServer } from "@modelcontextprotocol/server";
import { extras } from "./extras.ts";
import { askingTools, questions } from "./questions.ts";
import { suiteTools } from "./tools.ts";

export interface Fixture {
  readonly kernel: Kernel;
  readonly server: McpHttpServer;
}

/**
 * A server with all that the suite looks for, over a kernel.
 *
 * @param delayMs before each request is served, as on a busy machine
 */
export async function startFixture(delayMs = 0): Promise<Fixture> {
  const kernel = await createKernel({ policy: { version: "1", posture: "permissive" } });
  const servers = new Set<McpServer>();
  let versions = 0;
  const changed = (what: "tools" | "prompts"): void => {
    if (what === "tools") {
      const name = `added_${versions++}`;
      const description = "Added while the server runs.";
      kernel.registerTrusted(
        defineTool({
          name,
          version: "1.0.0",
          description,
          input: { type: "object" },
          output: { kind: "text" },
          execute: () => name,
        }),
      );
    } else for (const server of servers) server.sendPromptListChanged();
  };
  for (const tool of [...suiteTools(changed), ...askingTools]) {
    const registered = kernel.registerTrusted(tool);
    if (!registered.ok) throw new Error(`${registered.error.path} ${registered.error.message}`);
  }
  const extend = (server: McpServer): void => {
    extras(server);
    servers.add(server);
    server.server.onclose = () => void servers.delete(server);
  };
  const caller = anyone({ caller: "suite" });
  const authenticate: typeof caller = async (request) => {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    return caller(request);
  };
  const server = await serveMcpHttp(kernel, { authenticate, questions, extend });
  return { kernel, server };
}
