/** Started by mcp.bench.ts as a process of its own: one tool that returns its message. `sdk`: a bare handler of the SDK; `keyhole`: our server over a kernel. */
import { createServer } from "node:http";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { createKernel, defineTool } from "@keyhole/kernel";
import { anyone } from "@keyhole/mcp";
import { serveMcpHttp, serveMcpStdio } from "@keyhole/mcp/node";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const schema = {
  type: "object",
  properties: { message: { type: "string" } },
  required: ["message"],
  additionalProperties: false,
} as const;
const caller = { caller: "bench" };

function sdkServer(): McpServer {
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  const inputSchema = fromJsonSchema<{ message: string }>(schema);
  server.registerTool("echo", { description: "Returns its message.", inputSchema }, ({ message }) => ({
    content: [{ type: "text", text: message }],
  }));
  return server;
}

async function ownKernel() {
  const kernel = await createKernel({ policy: { version: "1", posture: "permissive" } });
  const registered = kernel.registerTrusted(
    defineTool({
      name: "echo",
      version: "1.0.0",
      description: "Returns its message.",
      bounds: { callsPerHour: 1_000_000 },
      input: schema,
      output: { kind: "text" },
      execute: ({ message }) => message,
    }),
  );
  if (!registered.ok) throw new Error(registered.error.message);
  return kernel;
}

/** As our own server takes requests from Node, so that both pay for it. */
async function sdkOverHttp(): Promise<string> {
  const handler = createMcpHandler(sdkServer);
  const server = createServer((incoming, outgoing) => {
    const { method = "GET", headers, url = "/" } = incoming;
    const body = method === "POST" && {
      body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>,
      duplex: "half" as const,
    };
    const request = new Request(`http://${headers.host}${url}`, {
      method,
      headers: headers as Record<string, string>,
      ...body,
    });
    void handler.fetch(request).then((response) => {
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      if (response.body) Readable.fromWeb(response.body as NodeReadableStream).pipe(outgoing);
      else outgoing.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/mcp`;
}

const [whose, way] = process.argv.slice(2);
if (way === "stdio" && whose === "sdk") serveStdio(sdkServer);
else if (way === "stdio") {
  const kernel = await ownKernel();
  serveMcpStdio(kernel, { caller, onEnd: () => void kernel.close() });
} else {
  const url =
    whose === "sdk"
      ? await sdkOverHttp()
      : (await serveMcpHttp(await ownKernel(), { authenticate: anyone(caller) })).url;
  console.log(url);
}
