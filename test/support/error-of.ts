import type { CallError, CallOptions, Kernel, KernelOptions } from "@keyhole/kernel";
import { echo, openKernel } from "./kernel.ts";
import { type AnyTool, registerAny } from "./registered.ts";

export interface Situation {
  readonly options?: KernelOptions;
  readonly tool?: AnyTool;
  readonly name?: string;
  readonly input?: object;
  readonly call?: CallOptions;
  readonly before?: (kernel: Kernel) => Promise<unknown>;
}

/** The error of one call, in a kernel with one tool. */
export async function errorOf({
  options = {},
  tool = echo,
  name,
  input = {},
  call = {},
  before,
}: Situation): Promise<CallError | undefined> {
  const { kernel } = await openKernel(options);
  registerAny(kernel, tool);
  await before?.(kernel);
  const result = await kernel.call(name ?? (tool === echo ? "echo" : "subject"), input, call);
  return result.ok ? undefined : result.error;
}
