import { defineTool, type JsonValue } from "@keyhole/kernel/tool";

/** Calls itself as often as it is told to, each from within the last, and says how the innermost ended. */
export default defineTool({
  name: "relay",
  version: "1.0.0",
  description: "Calls itself.",
  determinism: "external",
  capabilities: [{ kind: "tool.call", tools: ["relay"] }],
  bounds: { concurrency: 64 },
  input: { type: "object", properties: { times: { type: "integer" } }, required: ["times"] } as const,
  output: { kind: "json" },
  async execute({ times }, { tools }): Promise<JsonValue> {
    if (times === 0) return "ok";
    const answer = await tools.call("relay", { times: times - 1 });
    return answer.ok ? answer.data : answer.error.code;
  },
});
