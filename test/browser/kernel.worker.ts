import { createKernel, type Kernel } from "@keyhole/kernel";
import { browserHost, exposeKernel, remoteStage } from "@keyhole/worker-host/browser";
import drink from "../contract/tools/drink.ts?tool";
import pour from "../contract/tools/pour.ts?tool";
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
  for (const tool of [subject, pour, drink]) {
    const registered = kernel.register(tool);
    if (!registered.ok) throw new Error(registered.error.message);
  }
  return kernel;
}
