import type { Broker, ToolContext } from "@keyhole/kernel";
import * as families from "@keyhole/kernel/families";
import { runPipeline } from "@keyhole/kernel/pipeline";
import { granting, toolOf } from "../../support/kernel.ts";
import { openKernel, type Seam, seen } from "./seam.ts";

const external = { determinism: "external" } as const;
const netRead = (host: string) => ({ kind: "net.read", hosts: [host] });

export const seams: readonly Seam[] = [
  {
    name: "a caller's options",
    first: { caller: "ada", sessionId: "s", version: "1.0.0", correlationId: "c", waitMs: 5, cache: true, traceparent: "00-11111111111111111111111111111111-2222222222222222-01" }, // prettier-ignore
    second: { caller: "eve", sessionId: "t", version: "2.0.0", correlationId: "d", waitMs: 6, cache: false, traceparent: "00-33333333333333333333333333333333-2222222222222222-01" }, // prettier-ignore
    run: async (options) => {
      const kernel = await openKernel();
      for (const version of ["1.0.0", "2.0.0"]) kernel.registerTrusted(toolOf(() => version, { version }));
      return seen(kernel, await kernel.call("subject", {}, options));
    },
  },
  {
    name: "a caller's bounds",
    first: { bounds: { outputBytes: 10 } },
    second: { bounds: { outputBytes: 1_000 } },
    ways: ["a proxy"],
    run: async (options) => {
      const kernel = await openKernel();
      kernel.registerTrusted(toolOf(() => "x".repeat(100)));
      return seen(kernel, await kernel.call("subject", {}, options));
    },
  },
  {
    name: "a caller's grants, also for the calls that its call makes",
    first: { grants: [{ kind: "tool.call", tools: ["inner"] }, netRead("a.example.com")] },
    second: { grants: [{ kind: "tool.call", tools: ["*"] }, netRead("b.example.com")] },
    ways: ["a proxy"],
    run: async (options) => {
      const net = { kind: "net.read", hosts: ["*.example.com"] } as const;
      const calls = { kind: "tool.call", tools: ["*"] } as const;
      const broker: Broker = {
        families: [families.netRead],
        needs: ({ arguments: { url } }) => ({ ok: true, needs: [{ kind: "net.read", host: new URL(String(url)).hostname, port: 443, path: "/", method: "GET", isPublic: true } as never] }), // prettier-ignore
        serve: async () => ({ ok: true, value: { url: "", status: 200, headers: [] } }),
      };
      const kernel = await openKernel({ policy: granting(net, calls), brokers: [broker] });
      const parts = { ...external, effects: ["net.read"], capabilities: [net] };
      const asks = async (_: never, { fetch: ask }: ToolContext): Promise<unknown> =>
        Promise.all(["a", "b"].map((name) => ask(`https://${name}.example.com/`).then(() => "ok", (error: Error) => error.message))); // prettier-ignore
      kernel.registerTrusted(toolOf(asks, { ...parts, name: "inner" }));
      kernel.registerTrusted(toolOf(async (_: never, { tools }: ToolContext) => [await tools.call("inner"), await tools.call("inner")], { ...external, capabilities: [calls, net], effects: ["net.read"] })); // prettier-ignore
      return seen(kernel, await kernel.call("subject", {}, options));
    },
  },
  {
    name: "a tool that is named by its package",
    first: { manifest: { name: "subject", version: "1.0.0" } },
    second: { manifest: { name: "other", version: "2.0.0" } },
    run: async (tool) => {
      const kernel = await openKernel();
      for (const name of ["subject", "other"])
        for (const version of ["1.0.0", "2.0.0"])
          kernel.registerTrusted(toolOf(() => name + version, { name, version }));
      return seen(kernel, await kernel.call(tool, {}));
    },
  },
  {
    name: "a call's input",
    first: { a: { b: [1, 2] } },
    second: { a: { b: [3, 4] } },
    ways: ["a proxy"],
    run: async (input) => {
      const kernel = await openKernel();
      kernel.registerTrusted(toolOf((given) => given));
      return seen(kernel, await kernel.call("subject", input));
    },
  },
  {
    name: "the steps of a pipeline, and its options",
    first: [[{ id: "a", tool: "subject", input: { a: 1 } }], { caller: "ada", idempotencyKey: "one" }],
    second: [[{ id: "b", tool: "subject", input: { a: 2 } }], { caller: "eve", idempotencyKey: "two" }],
    ways: ["a proxy"],
    run: async ([steps, options]: readonly [never, never]) => {
      const kernel = await openKernel();
      kernel.registerTrusted(toolOf((input) => input));
      return seen(kernel, await runPipeline(kernel, steps, options));
    },
  },
];
