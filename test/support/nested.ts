import {
  type Broker,
  createKernel,
  type Kernel,
  type KernelOptions,
  type Tool,
  type ToolContext,
} from "@keyhole/kernel";
import { netRead } from "@keyhole/kernel/families";
import { expect } from "vitest";
import { FakeClock } from "./fake-clock.ts";
import { openPolicy, toolOf } from "./kernel.ts";
import { type AnyTool, registerAny } from "./registered.ts";

export type Context = Pick<ToolContext, "tools" | "signal" | "callId" | "fetch">;

/** Everybody may call everything. */
export const openCalls = {
  ...openPolicy,
  grants: [{ tool: "*", capability: { kind: "tool.call", tools: ["*"] } }],
} as const;

export const calling = (
  name: string,
  execute: (input: never, context: Context) => unknown,
  more: Record<string, unknown> = {},
) =>
  toolOf(execute, {
    name,
    determinism: "external",
    capabilities: [{ kind: "tool.call", tools: ["*"] }],
    ...more,
  });
export const leaf = (
  name: string,
  execute: (input: never, context: never) => unknown,
  more: Record<string, unknown> = {},
) => toolOf(execute, { name, determinism: "external", ...more });

export async function openCalling(
  tools: readonly AnyTool[],
  options: KernelOptions = {},
): Promise<{ kernel: Kernel; clock: FakeClock }> {
  const clock = new FakeClock();
  const kernel = await createKernel({ policy: openCalls, clock, ...options });
  for (const tool of tools) expect(registerAny(kernel, tool)).toMatchObject({ ok: true });
  return { kernel, clock };
}

/** Hands on what it is given to the tool `inner`, and its answer back. */
export const outer = calling("outer", (input, { tools }) => tools.call("inner", input));

/** The same tool, with other words in its manifest. */
export function toolWith({ definition, code }: Tool<never, unknown>, more: Record<string, unknown>): AnyTool {
  return { definition: { ...definition, ...more }, code };
}

/** Answers everything, and spends one request for it. */
export function fakeNet(): Broker {
  return {
    families: [netRead],
    needs: ({ arguments: { url } }) => {
      const { hostname, pathname } = new URL(String(url));
      return {
        ok: true,
        needs: [{ kind: "net.read", method: "GET", host: hostname, isPublic: true, port: 443, path: pathname }],
      };
    },
    serve: async (_, { spend }) => {
      const error = spend({ networkRequests: 1, networkBytes: 10 });
      if (error) return { ok: false, error };
      return { ok: true, value: { url: "https://a.example/", status: 200, headers: [] } };
    },
  };
}
