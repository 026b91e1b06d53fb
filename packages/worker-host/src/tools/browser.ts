import { defineTool } from "@keyhole/kernel/tool";

interface Page {
  readonly url: string;
  readonly status: number;
  readonly title: string;
  readonly text: string;
  readonly textLength: number;
  readonly isLoaded: boolean;
  readonly extracted: { count: number; values: (string | null)[]; isInvalid?: boolean }[];
  readonly refusals: number;
  readonly refused: { method: string; url: string; reason: string }[];
}

const text = { type: "string" } as const;
const count = { type: "integer", minimum: 0 } as const;

export default defineTool({
  name: "browser",
  version: "1.0.0",
  title: "Read a page in a browser",
  description:
    "Opens a page of a host that the policy allows in a browser, runs its scripts, and returns its title, its text, and the texts or attributes that CSS selectors " +
    "find. `refused` lists requests of the page that the policy did not allow.",
  category: "network",
  effects: ["browser.page"],
  determinism: "external",
  tier: 1,
  risk: "medium",
  capabilities: [{ kind: "browser.page", hosts: ["*"], target: { url: "/url" } }],
  bounds: { timeoutMs: 60_000, networkBytes: 16 << 20, networkRequests: 500, concurrency: 2, outputBytes: 4 << 20 },
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
      textLength: {
        type: "integer",
        minimum: 0,
        maximum: 200_000,
        default: 20_000,
        description: "Characters of text.",
      },
      extract: {
        type: "array",
        maxItems: 20,
        default: [],
        items: {
          type: "object",
          properties: {
            selector: { type: "string", minLength: 1, maxLength: 1_000, description: "CSS selector." },
            attribute: { type: "string", minLength: 1, maxLength: 100, description: "Default: the text." },
          },
          required: ["selector"],
          additionalProperties: false,
        },
      },
    },
    required: ["url"],
    additionalProperties: false,
    examples: [{ url: "https://example.com/", extract: [{ selector: "a", attribute: "href" }] }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        url: { ...text, description: "Where the page is, after redirects." },
        status: count,
        title: text,
        text,
        textLength: { ...count, description: "Characters of the whole text." },
        isLoaded: { type: "boolean", description: "Whether the load ended within `waitMs`." },
        extracted: {
          type: "array",
          items: {
            type: "object",
            properties: {
              count: { ...count, description: "All matches; `values` has the first 200." },
              values: { type: "array", items: { type: ["string", "null"] } },
              isInvalid: { type: "boolean", description: "The selector has no meaning." },
            },
            required: ["count", "values"],
            additionalProperties: false,
          },
        },
        refusals: count,
        refused: {
          type: "array",
          items: {
            type: "object",
            properties: { method: text, url: text, reason: text },
            required: ["method", "url", "reason"],
            additionalProperties: false,
          },
        },
      },
      required: ["url", "status", "title", "text", "textLength", "isLoaded", "extracted", "refusals", "refused"],
      additionalProperties: false,
    },
  },
  async execute({ url, waitMs, textLength, extract }, { request }) {
    const asked = { url, waitMs, textLength, extract: extract.map((each) => ({ ...each })) };
    const { value } = await request<Page>({ kind: "browser.page", operation: "open", arguments: asked });
    const { status, title, text: shown, isLoaded, extracted, refusals, refused } = value;
    return {
      url: value.url,
      status,
      title,
      text: shown,
      textLength: value.textLength,
      isLoaded,
      extracted,
      refusals,
      refused,
    };
  },
});
