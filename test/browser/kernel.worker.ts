import { createKernel, type Kernel } from "@keyhole/kernel";
import { browserHost, exposeKernel, remoteFrameContainer } from "@keyhole/worker-host/browser";
import drink from "keyhole:../contract/tools/drink.ts";
import pour from "keyhole:../contract/tools/pour.ts";
import subject from "keyhole:../contract/tools/subject.ts";

exposeKernel(boot());

async function boot(): Promise<Kernel> {
  const kernel = await createKernel({
    host: await browserHost({ container: remoteFrameContainer() }),
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
