import { createKernel, type KernelOptions, type Kernel } from "@keyhole/kernel";
import type { FileSink } from "@keyhole/worker-host/node";
import { Unusable, visible } from "../io.ts";

/** Opens a kernel on its log, and closes the log where it does not open. @throws {Unusable} for a log that cannot be used, such as one that another process has open */
export async function loggedKernel(options: KernelOptions, sink: FileSink | undefined): Promise<Kernel> {
  try {
    return await createKernel({ ...options, ...(sink && { sink }) });
  } catch (error) {
    await sink?.close().catch(() => undefined);
    if (error instanceof Error && sink) throw new Unusable(visible(error.message), { cause: error });
    throw error;
  }
}

/** Takes each step, also behind one that fails: a full disk fails the kernel, and its servers have to end all the same. @throws {Unusable} with the first fault */
export async function closeInOrder(...steps: readonly (() => void | Promise<void> | undefined)[]): Promise<void> {
  const faults: Error[] = [];
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      faults.push(error instanceof Error ? error : new Error(String(error)));
    }
  }
  const [fault] = faults;
  if (!fault) return;
  const cause = fault.cause instanceof Error ? ` ${fault.cause.message}` : "";
  throw new Unusable(visible(`${fault.message}${cause}`), { cause: fault });
}
