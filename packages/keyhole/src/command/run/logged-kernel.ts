import { createFullKernel, type FullKernelOptions, type Kernel } from "@keyhole/kernel";
import type { FileSink } from "@keyhole/worker-host/node";
import { Unusable, visible } from "../io.ts";

/** Opens a kernel on its log, and closes the log where it does not open. @throws {Unusable} for a log that cannot be used, such as one that another process has open */
export async function loggedKernel(options: FullKernelOptions, sink: FileSink | undefined): Promise<Kernel> {
  try {
    return await createFullKernel({ ...options, ...(sink && { sink }) });
  } catch (error) {
    await sink?.close().catch(() => undefined);
    if (error instanceof Error && sink) throw new Unusable(visible(error.message), { cause: error });
    throw error;
  }
}
