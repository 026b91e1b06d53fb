import { defineTool } from "@keyhole/kernel/tool";

export default defineTool({
  name: "browser_screenshot",
  version: "1.0.0",
  title: "Picture of a page",
  description: "Opens a page of a host that the policy allows in a browser, and returns a picture of it as PNG.",
  category: "network",
  effects: ["browser.page"],
  determinism: "external",
  tier: 1,
  risk: "medium",
  capabilities: [{ kind: "browser.page", hosts: ["*"], target: { url: "/url" } }],
  bounds: { timeoutMs: 60_000, networkBytes: 16 << 20, networkRequests: 500, concurrency: 2, outputBytes: 16 << 20 },
  input: {
    type: "object",
    properties: {
      url: { type: "string", minLength: 1, maxLength: 8_192, description: "Absolute http or https URL." },
      waitMs: {
        type: "integer",
        minimum: 0,
        maximum: 30_000,
        default: 10_000,
        description: "Longest wait for the load.",
      },
      width: { type: "integer", minimum: 100, maximum: 2_560, default: 1_280 },
      height: { type: "integer", minimum: 100, maximum: 2_560, default: 800 },
      wholePage: { type: "boolean", default: false, description: "Up to 4,096 pixels of height." },
    },
    required: ["url"],
    additionalProperties: false,
    examples: [{ url: "https://example.com/" }],
  },
  output: { kind: "binary", mediaType: "image/png" },
  async execute({ url, waitMs, width, height, wholePage }, { request }) {
    const screenshot = wholePage ? "page" : "window";
    const asked = { url, waitMs, width, height, screenshot };
    const { body } = await request({ kind: "browser.page", operation: "open", arguments: asked });
    return body ?? new Uint8Array();
  },
});
