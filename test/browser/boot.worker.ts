/** A kernel's worker whose boot goes as its name says. */
import { createFullKernel, IsolateFailure, type Kernel } from "@keyhole/kernel";
import { exposeKernel } from "@keyhole/worker-host/browser";

const boots: Readonly<Record<string, () => Promise<Kernel>>> = {
  works: () => createFullKernel(),
  rejects: () =>
    Promise.reject(new IsolateFailure("UNSUPPORTED_HOST", "No document.", { operatorHint: "Pass a container." })),
  "takes a wrong policy": () => createFullKernel({ policy: { version: "9" } }),
  hangs: () => new Promise(() => {}),
};

exposeKernel(boots[self.name]!());
