import {
  createKernel,
  defineTool,
  type Kernel,
  type KernelOptions,
  type PolicyDocument,
  type Tool,
} from "@keyhole/kernel";
import { anyone, type McpHandler, mcpHandler, type McpHandlerOptions, PortTransport, serveMcpPort } from "@keyhole/mcp";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach } from "vitest";

const opened: (() => Promise<unknown> | void)[] = [];

/** Done after the test, the last one first. */
export function afterwards(close: () => Promise<unknown> | void): void {
  opened.push(close);
}

/** For each test file: closes what its tests opened. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const close of opened.splice(0).toReversed()) await close();
  });
}

const policy: PolicyDocument = {
  version: "1",
  posture: "permissive",
  rules: [
    { id: "asked", effect: "ask", when: { tool: ["pay"] }, reason: "It pays." },
    {
      id: "never",
      effect: "deny",
      when: { tool: ["refund"], arguments: [{ at: "/amount", moreThan: 9 }] },
      reason: "Too much.",
    },
    { id: "hidden", effect: "deny", when: { tool: ["wipe"] }, reason: "Nobody wipes." },
  ],
};

const text = { type: "string" } as const;
const amount = { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] } as const;
const message = {
  type: "object",
  properties: { message: text },
  required: ["message"],
  additionalProperties: false,
} as const;

/** What ran, in order. */
export interface Ran {
  readonly deeds: string[];
}

export function standardTools({ deeds }: Ran): readonly Tool<never, unknown>[] {
  const base = { version: "1.0.0", determinism: "external" } as const;
  const tools = [
    defineTool({
      ...base,
      name: "echo",
      title: "Echo",
      description: "Returns its message.",
      input: message,
      output: { kind: "json", schema: message },
      execute: (given) => given,
    }),
    defineTool({
      ...base,
      name: "pay",
      description: "Pays.",
      tier: 2,
      input: amount,
      output: { kind: "text" },
      execute: ({ amount }) => `paid ${deeds.push(`paid ${amount}`) && amount}`,
    }),
    defineTool({
      ...base,
      name: "refund",
      description: "Refunds.",
      tier: 2,
      input: amount,
      output: { kind: "text" },
      execute: ({ amount }) => `refunded ${deeds.push(`refunded ${amount}`) && amount}`,
    }),
    defineTool({
      ...base,
      name: "wipe",
      description: "Wipes.",
      input: { type: "object" },
      output: { kind: "text" },
      execute: () => `wiped ${deeds.push("wiped")}`,
    }),
    defineTool({
      ...base,
      name: "fail",
      description: "Fails.",
      input: { type: "object" },
      output: { kind: "text" },
      execute: () => {
        throw new Error("It failed on purpose.");
      },
    }),
  ];
  return tools;
}

export function register(kernel: Kernel, ...tools: readonly Tool<never, unknown>[]): void {
  for (const tool of tools) {
    const registered = kernel.registerTrusted(tool);
    if (!registered.ok) throw new Error(`${registered.error.path} ${registered.error.message}`);
  }
}

export async function kernelWith(tools: readonly Tool<never, unknown>[], options: KernelOptions = {}): Promise<Kernel> {
  const kernel = await createKernel({ policy, ...options });
  register(kernel, ...tools);
  return kernel;
}

export const eras = ["2026-07-28", "2025-11-25"] as const;
export type Era = (typeof eras)[number];

export function clientOf(era: Era, options: ClientOptions = {}): Client {
  const mode = era === "2026-07-28" ? { pin: era } : "legacy";
  return new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode }, ...options });
}

/** How a client reaches a server in these tests. */
export type Way = "http" | "port";

/** A handler whose requests come from its own machine. */
export function handlerOf(kernel: Kernel, options: Partial<McpHandlerOptions> = {}): McpHandler {
  const handler = mcpHandler(kernel, { authenticate: anyone({ caller: "desk" }), ...options });
  afterwards(() => handler.close());
  return handler;
}

export function fetchFrom(handler: McpHandler): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return (url, init) => {
    const request = new Request(url, init);
    request.headers.set("host", new URL(url).host);
    return handler.fetch(request);
  };
}

export async function overHttp(handler: McpHandler, client: Client): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL("http://127.0.0.1/mcp"), { fetch: fetchFrom(handler) });
  await client.connect(transport);
  afterwards(() => client.close());
  return client;
}

export async function connected(
  way: Way,
  era: Era,
  kernel: Kernel,
  { client = {}, ...options }: Partial<McpHandlerOptions> & { readonly client?: ClientOptions } = {},
): Promise<Client> {
  const own = clientOf(era, client);
  if (way === "http") return overHttp(handlerOf(kernel, options), own);
  const { port1, port2 } = new MessageChannel();
  const { authenticate: _, ...rest } = options;
  const connection = serveMcpPort(kernel, port1, { caller: { caller: "desk" }, ...rest });
  await own.connect(new PortTransport(port2));
  afterwards(() => connection.close());
  afterwards(() => own.close());
  return own;
}
