import { createKernel, type KernelOptions, type Kernel, type PolicyDocument, type ToolPackage } from "@keyhole/kernel";
import { httpHost, httpPackage } from "@keyhole/worker-host/http";
import { netBroker } from "@keyhole/worker-host/brokers/net";

type Definition = Parameters<typeof httpPackage>[0];

/** A tool with an interesting template and nothing else. */
export function requestTool(http: Definition["http"], more: Partial<Definition> = {}): ToolPackage {
  const properties = { id: { type: "string" }, other: { type: "string" } } as const;
  return httpPackage({
    name: "subject",
    version: "1.0.0",
    description: "Under test.",
    http,
    input: { type: "object", properties, required: ["id"] },
    output: { kind: "json" },
    ...more,
  });
}

/** Everything runs, with what each tool asks for. */
export function grantingAll(...tools: readonly ToolPackage[]): PolicyDocument {
  return {
    version: "1",
    posture: "permissive",
    grants: tools.flatMap(({ manifest }) =>
      manifest.capabilities.map(({ optional: _, target: __, ...capability }) => ({ tool: manifest.name, capability })),
    ),
    rules: [{ id: "all", effect: "allow", when: {}, reason: "A test." }],
  };
}

export type Send = (request: Request) => Response | Promise<Response>;

/** A kernel whose network is one function. */
export async function openHttpKernel(
  tools: readonly ToolPackage[],
  send: Send,
  options: KernelOptions = {},
): Promise<Kernel> {
  const fetch = async (url: string, init: RequestInit): Promise<Response> => send(new Request(url, init));
  const kernel = await createKernel({
    host: httpHost({ brokers: [netBroker({ fetch })] }),
    policy: grantingAll(...tools),
    ...options,
  });
  for (const tool of tools) {
    const registered = kernel.register(tool);
    if (!registered.ok) throw new Error(`${registered.error.path}: ${registered.error.message}`);
  }
  return kernel;
}

export const json = (value: unknown, init: ResponseInit = {}): Response => Response.json(value, init);
