import {
  type BusPort,
  type BusServer,
  type BusServerOptions,
  type BusSource,
  busSource,
  type BusSourceOptions,
  everyCaller,
  serveOnBus,
} from "@keyhole/bus";
import {
  type CallOptions,
  type CallResult,
  createKernel,
  defineTool,
  type Kernel,
  type PolicyDocument,
  type Tool,
} from "@keyhole/kernel";
import { afterwards } from "../mcp/support.ts";
import { openPolicy } from "../support/kernel.ts";

const base = { version: "1.0.0", determinism: "external" } as const;

/** What a test can see and hold of the tools that are served. */
export class Served {
  readonly deeds: string[] = [];
  /** Calls of `wait` go on when it resolves. */
  readonly gate: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly waiting: PromiseWithResolvers<void> = Promise.withResolvers();
  readonly told: PromiseWithResolvers<void> = Promise.withResolvers();

  tools(): readonly Tool<never, unknown>[] {
    const amount = { type: "object", properties: { amount: { type: "integer" } }, required: ["amount"] } as const;
    const tools = [
      defineTool({
        ...base,
        name: "pay",
        description: "Pays.",
        input: amount,
        output: { kind: "json", schema: { type: "object", required: ["paid"] } },
        execute: (input) => {
          this.deeds.push(`pay ${input.amount}`);
          return { paid: input.amount };
        },
      }),
      defineTool({
        ...base,
        name: "wait",
        description: "Waits until it may go on, or is told to stop.",
        input: { type: "object" },
        output: { kind: "text" },
        execute: async (_, { signal, progress, log }) => {
          this.deeds.push("wait");
          signal.addEventListener("abort", () => this.told.resolve());
          log("begun");
          progress({ done: 1, total: 2, message: "half" });
          this.waiting.resolve();
          await Promise.race([this.gate.promise, this.told.promise]);
          if (signal.aborted) throw new Error("It was told to stop.");
          return "done";
        },
      }),
      defineTool({
        ...base,
        name: "bytes",
        description: "Gives bytes.",
        input: { type: "object", properties: { length: { type: "integer" } }, required: ["length"] },
        output: { kind: "binary" },
        bounds: { outputBytes: 4_194_304 },
        execute: ({ length }) => Uint8Array.from({ length }, (_, at) => at % 256),
      }),
    ];
    return tools;
  }
}

export async function kernelWith(tools: readonly Tool<never, unknown>[], policy?: PolicyDocument): Promise<Kernel> {
  const kernel = await createKernel({ policy: policy ?? openPolicy });
  afterwards(() => kernel.close());
  for (const tool of tools) {
    const registered = kernel.registerTrusted(tool);
    if (!registered.ok) throw new Error(registered.error.message);
  }
  return kernel;
}

export interface Serving {
  readonly served: Served;
  readonly kernel: Kernel;
  readonly server: BusServer;
  readonly errors: readonly string[];
}

/** A kernel that serves the standard tools. */
export async function serving(
  port: BusPort,
  options: Partial<BusServerOptions> & { readonly policy?: PolicyDocument } = {},
): Promise<Serving> {
  const served = new Served();
  const { policy, ...rest } = options;
  const kernel = await kernelWith(served.tools(), policy);
  const errors: string[] = [];
  const server = await serveOnBus(kernel, port, {
    callers: everyCaller({ caller: "bus" }),
    onError: ({ message }) => void errors.push(message),
    ...rest,
  });
  afterwards(() => server.close());
  return { served, kernel, server, errors };
}

export interface Calling {
  readonly kernel: Kernel;
  readonly source: BusSource;
  readonly errors: readonly string[];
  readonly call: (tool: string, input: object, options?: CallOptions) => Promise<CallResult>;
  /** Code and message of a call that fails. */
  readonly failure: (tool: string, input: object, options?: CallOptions) => Promise<readonly [string, string]>;
}

/** A kernel with the tools of the bus. */
export async function calling(
  port: BusPort,
  options: Partial<BusSourceOptions> & { readonly policy?: PolicyDocument } = {},
): Promise<Calling> {
  const { policy, ...rest } = options;
  const kernel = await kernelWith([], policy);
  const errors: string[] = [];
  const source = await busSource(kernel, port, {
    name: "far",
    expect: ["pay", "wait", "bytes"],
    discoveryMs: 60_000,
    onError: ({ message }) => void errors.push(message),
    ...rest,
  });
  afterwards(() => source.close());
  const call: Calling["call"] = (tool, input, more) => kernel.call(`far_${tool}`, input, more);
  const failure: Calling["failure"] = async (...args) => {
    const result = await call(...args);
    return result.ok ? ["ok", ""] : [result.error.code, result.error.message];
  };
  return { kernel, source, errors, call, failure };
}

/** 32 bytes, each the same. */
export function key(byte: number): Uint8Array {
  return new Uint8Array(32).fill(byte);
}

/** Resolves when it is so: by messages, which take turns of the loop. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 0));
}
