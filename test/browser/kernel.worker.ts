import { createKernel, type Kernel } from "@keyhole/kernel";
import { browserHost, exposeKernel, remoteStage } from "@keyhole/worker-host/browser";
import subject from "../contract/tools/subject.ts?tool";

exposeKernel(boot());

async function boot(): Promise<Kernel> {
  const kernel = await createKernel({
    host: await browserHost({ stage: remoteStage() }),
    policy: {
      version: "1",
      posture: "permissive",
      rules: [{ id: "ask-echo", effect: "ask", when: { caller: ["asked"] }, reason: "It is asked." }],
    },
  });
  const registered = kernel.register(subject);
  if (!registered.ok) throw new Error(registered.error.message);
  return kernel;
}
