import { hold, type Probe } from "./probes.ts";

export const mcpProbes: Readonly<Record<string, Probe>> = {
  async "@keyhole/mcp"() {
    const { anyone, mcpHandler } = await import("@keyhole/mcp");
    const { createKernel } = await import("@keyhole/kernel");
    const kernel = await createKernel();
    const handler = mcpHandler(kernel, { authenticate: anyone({ caller: "probe" }) });
    const { status } = await handler.fetch(new Request("http://localhost/mcp", { method: "POST", body: "{}" }));
    hold(status === 403 || status === 415, `a request without a type and a host was answered with ${status}`);
    await handler.close();
    await kernel.close();
  },
};
