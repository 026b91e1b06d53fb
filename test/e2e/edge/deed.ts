import { defineTool } from "@keyhole/kernel/tool";

/** Does what it is told: the ways in which a tool goes wrong at the edge. */
export default defineTool({
  name: "deed",
  version: "1.0.0",
  description: "Does what the tests tell it.",
  effects: ["net.read"],
  determinism: "nondeterministic",
  capabilities: [{ kind: "net.read", hosts: ["*"], optional: true }],
  bounds: { timeoutMs: 240_000, concurrency: 16 },
  input: {
    type: "object",
    properties: {
      deed: { enum: ["spin", "fetch and spin", "hang", "log and hang", "count", "log"] },
      url: { type: "string" },
    },
    required: ["deed"],
  },
  output: { kind: "json" },
  async execute({ deed, url = "" }, context) {
    switch (deed) {
      case "spin":
        for (;;);
      case "fetch and spin":
        await context.fetch(url);
        for (;;);
      case "hang":
        return new Promise<never>(() => {});
      case "log and hang":
        context.log("a line");
        return new Promise<never>(() => {});
      case "count":
        counted += 1;
        return counted;
      case "log":
        context.log("a line");
        context.progress({ done: 1, total: 2 });
        return "logged";
    }
  },
});

let counted = 0;
