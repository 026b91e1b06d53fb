import type { IsolateHost, KernelOptions } from "@keyhole/kernel";
import { expect } from "vitest";
import { openKernel, toolOf } from "./kernel.ts";
import { moduleHost, packed } from "./module-host.ts";

/** A kernel with these tools, as packages, and what its host opened. */
export async function lifeOf(
  tools: readonly ReturnType<typeof toolOf>[],
  options: KernelOptions = {},
  more: Partial<IsolateHost> = {},
) {
  const modules = moduleHost(...tools);
  const host: IsolateHost = { ...modules, ...more };
  const opened = await openKernel({ host, cache: false, ...options });
  for (const tool of tools) expect(opened.kernel.register(packed(tool))).toMatchObject({ ok: true });
  return { ...opened, modules };
}

/** A tool that says how often its isolate was called. */
export const counting = (name: string) => {
  let calls = 0;
  return toolOf(() => ++calls, { name, determinism: "external" });
};
