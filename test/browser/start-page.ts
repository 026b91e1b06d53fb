/** The script of a page under test: connects to a kernel's worker, and tells the test's page how that went. */
import { connectKernel, KernelUnavailable } from "@keyhole/worker-host/browser";

// As the plugin serves it. Where Vite writes the address itself, it begins at the address of the page, which this page has none of.
const file = "./boot.worker.js";

async function connect(): Promise<object> {
  try {
    const worker = new Worker(new URL(file, import.meta.url), { type: "module", name: "works" });
    await connectKernel(worker).ready();
    return { ready: true };
  } catch (error) {
    if (!(error instanceof KernelUnavailable)) return { error: String(error) };
    const { code, reason, message, hint } = error;
    return { code, reason, message, hint };
  }
}

parent.postMessage(await connect(), "*");
