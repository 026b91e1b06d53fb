import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "spin",
  version: "1.0.0",
  title: "A tool that never ends",
  description:
    "Runs an endless loop, to show how the kernel stops a tool that never gives control back. Press Cancel, or wait for its deadline.",
  category: "example",
  determinism: "nondeterministic",
  bounds: { timeoutMs: 10_000 },
  input: {
    type: "object",
    properties: {
      politely: {
        type: "boolean",
        default: false,
        description: "End when asked to. Otherwise the loop hears nothing, and only the end of its thread ends it.",
      },
    },
    additionalProperties: false,
  },
  output: { kind: "text" },
  execute: async ({ politely }, context) => {
    context.log(politely ? "Waiting until I am asked to stop." : "Spinning. I will not hear you.", "warn");
    context.progress({ done: 0, message: politely ? "Waiting" : "Spinning" });
    if (politely) {
      await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve(), { once: true }));
      return "stopped when asked";
    }
    // The messages above leave with the next turn of the event loop, which never comes after this line.
    await Promise.resolve();
    while (true) {
      // The loop is the point.
    }
  },
});
