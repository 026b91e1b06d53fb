/** A kernel's worker whose boot goes as its name says. */
import { createKernel, IsolateFailure, type Kernel } from "@keyhole/kernel";
import { exposeKernel } from "@keyhole/worker-host/browser";

const boots: Readonly<Record<string, () => Promise<Kernel>>> = {
  works: () => createKernel(),
  rejects: () =>
    Promise.reject(new IsolateFailure("UNSUPPORTED_HOST", "No document.", { operatorHint: "Pass a container." })),
  "takes a wrong policy": () => createKernel({ policy: { version: "9" } }),
  hangs: () => new Promise(() => {}),
};

exposeKernel(boots[self.name]!());
