import { isJsonObject } from "@keyhole/kernel";
import { defineTool, type JsonValue } from "@keyhole/kernel/tool";

/** Where the search is. Stands in the code once, for `webSearchAt` to put the address of a real one in its place. */
const endpoint = "https://searxng.invalid/search";

export default defineTool({
  name: "web_search",
  version: "1.0.0",
  title: "Web search",
  description:
    "Searches the web and returns titles, addresses and excerpts of what was found, best first. Read a page with fetch_url.",
  category: "network",
  effects: ["net.read"],
  determinism: "external",
  tier: 1,
  risk: "medium",
  idempotent: true,
  capabilities: [{ kind: "net.read", hosts: ["searxng.invalid"], methods: ["GET"] }],
  bounds: { timeoutMs: 30_000, networkBytes: 4 << 20 },
  input: {
    type: "object",
    properties: {
      query: { type: "string", minLength: 1, maxLength: 500, description: "What to search for." },
      language: {
        type: "string",
        pattern: "^(?:[a-z]{2,3}(?:-[A-Z]{2})?|all)$",
        default: "all",
        description: "Such as en or de-DE.",
      },
      timeRange: {
        enum: ["any", "day", "week", "month", "year"],
        default: "any",
        description: "How old a page may be.",
      },
      page: { type: "integer", minimum: 1, maximum: 20, default: 1 },
      limit: { type: "integer", minimum: 1, maximum: 50, default: 10, description: "Results at most." },
    },
    required: ["query"],
    additionalProperties: false,
    examples: [{ query: "how WebAssembly counts fuel", limit: 3 }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        results: {
          type: "array",
          items: {
            type: "object",
            properties: {
              title: { type: "string" },
              url: { type: "string" },
              excerpt: { type: "string" },
              published: { type: "string", description: "As the search engine gives it; empty where it does not." },
            },
            required: ["title", "url", "excerpt", "published"],
            additionalProperties: false,
          },
        },
        answers: {
          type: "array",
          items: { type: "string" },
          description: "Direct answers, where an engine gave some.",
        },
      },
      required: ["results", "answers"],
      additionalProperties: false,
    },
  },
  async execute({ query, language, timeRange, page, limit }, context) {
    const url = new URL(endpoint);
    const parameters = {
      q: query,
      format: "json",
      language,
      pageno: String(page),
      ...(timeRange !== "any" && { time_range: timeRange }),
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const response = await context.fetch(url, { headers: { accept: "application/json" } });
    if (response.status !== 200)
      throw new Error(
        `The search answered ${response.status}${response.status === 403 ? "; its JSON format may be switched off" : ""}.`,
      );
    const body = (await response.json()) as JsonValue;
    const { results, answers } = isJsonObject(body) ? body : {};
    if (!Array.isArray(results)) throw new Error("The search did not answer in SearXNG's JSON format.");
    return {
      results: (results as JsonValue[]).filter(isJsonObject).filter(hasAddress).slice(0, limit).map(resultOf),
      answers: Array.isArray(answers)
        ? (answers as JsonValue[])
            .map(answerOf)
            .filter((text) => text !== "")
            .slice(0, 10)
        : [],
    };
  },
});

type Fields = { readonly [name: string]: JsonValue };

function hasAddress({ url }: Fields): boolean {
  return typeof url === "string" && /^https?:\/\//i.test(url) && url.length <= 8_192;
}

function resultOf({ title, url, content, publishedDate }: Fields) {
  return {
    title: line(title, 500),
    url: line(url, 8_192),
    excerpt: line(content, 2_000),
    published: line(publishedDate, 100),
  };
}

/** A text in older versions, an object with one in newer. */
function answerOf(answer: JsonValue): string {
  return line(isJsonObject(answer) ? answer["answer"] : answer, 2_000);
}

function line(value: JsonValue | undefined, length: number): string {
  return typeof value === "string" ? value.replace(/\s+/g, " ").trim().slice(0, length).toWellFormed() : "";
}
