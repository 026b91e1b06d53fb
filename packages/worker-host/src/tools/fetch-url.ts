import { defineTool } from "@keyhole/kernel/tool";
import { convert } from "html-to-text";
import { looksBinary } from "./encoding.ts";

export default defineTool({
  name: "fetch_url",
  version: "1.0.0",
  title: "Read a web page",
  description:
    "Fetches a web page from a host that the policy allows and returns its title and what a person would read of it, as plain text. JSON and other text come " +
    "as they are. Long pages come in parts: give `next` as `start` for the part that follows.",
  category: "network",
  effects: ["net.read"],
  determinism: "external",
  tier: 1,
  risk: "medium",
  idempotent: true,
  capabilities: [{ kind: "net.read", hosts: ["*"], target: { url: "/url" } }],
  bounds: { timeoutMs: 30_000, networkBytes: 4 << 20 },
  input: {
    type: "object",
    properties: {
      url: {
        type: "string",
        minLength: 1,
        maxLength: 8_192,
        description: "Absolute http or https URL, without user name and password.",
      },
      links: { type: "boolean", default: false, description: "Whether to show where links lead, in brackets." },
      start: { type: "integer", minimum: 0, maximum: 100_000_000, default: 0, description: "First character." },
      maxCharacters: { type: "integer", minimum: 100, maximum: 200_000, default: 20_000 },
    },
    required: ["url"],
    additionalProperties: false,
    examples: [{ url: "https://example.com/", links: true }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        url: { type: "string", description: "Where the page came from, after redirects." },
        status: { type: "integer", minimum: 200, maximum: 599 },
        mediaType: { type: "string" },
        title: { type: "string", description: "Empty where there is none." },
        text: { type: "string" },
        length: { type: "integer", minimum: 0, description: "Characters of the whole text." },
        next: { type: "integer", minimum: 1, description: "Where the text goes on." },
      },
      required: ["url", "status", "mediaType", "title", "text", "length"],
      additionalProperties: false,
    },
  },
  async execute({ url, links, start, maxCharacters }, context) {
    const response = await context.fetch(url, { headers: { accept: "text/html, text/plain;q=0.9, */*;q=0.5" } });
    const contentType = response.headers.get("content-type") ?? "";
    const mediaType = /^[^\s;]*/.exec(contentType)?.[0].toLowerCase() ?? "";
    const source = decode(new Uint8Array(await response.arrayBuffer()), contentType);
    if (looksBinary(source)) throw new TypeError(`${url} is not text${mediaType && ` but ${mediaType}`}.`);
    const isPage =
      /^(?:text\/html|application\/xhtml\+xml)$/.test(mediaType) || /^\s*(?:<!doctype html|<html)/i.test(source);
    const text = isPage ? readPage(source, response.url, links) : source;
    const end = cutBefore(text, start + maxCharacters);
    return {
      url: response.url,
      status: response.status,
      mediaType,
      title: isPage ? titleOf(source) : "",
      text: text.slice(cutBefore(text, start), end).toWellFormed(),
      length: text.length,
      ...(end < text.length && { next: end }),
    };
  },
});

/** Not between the two halves of a character. */
function cutBefore(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return Math.min(text.length, unit >= 0xdc00 && unit <= 0xdfff ? at + 1 : at);
}

/** As the server says, or as the page says in its first 1,024 bytes (HTML, "determining the character encoding"); else UTF-8. */
function decode(bytes: Uint8Array, contentType: string): string {
  const head = new TextDecoder().decode(bytes.subarray(0, 1_024));
  const label =
    /charset=["']?([\w.:-]+)/i.exec(contentType)?.[1] ?? /<meta[^>]{0,200}charset=["']?([\w.:-]+)/i.exec(head)?.[1];
  try {
    // Every isolate knows the names of the Encoding standard; the kernel itself asks for one of them only.
    return new TextDecoder(label as "utf-8" | undefined).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function titleOf(html: string): string {
  const title = /<title\b[^>]{0,500}>([^<]{0,2000})/i.exec(html)?.[1] ?? "";
  return convert(title, { wordwrap: false }).replace(/\s+/g, " ").trim().slice(0, 500).toWellFormed();
}

/** The part that the page marks as its content, if it marks one. */
function readPage(html: string, baseUrl: string, links: boolean): string {
  const content = ["main", "article"].find((name) => new RegExp(`<${name}[\\s>]`, "i").test(html)) ?? "body";
  const skip = ["script", "style", "noscript", "template", "svg", "iframe", "nav", "img", "form"];
  return convert(html, {
    wordwrap: false,
    baseElements: { selectors: [content], returnDomByDefault: true },
    // A page is as deep as its author likes.
    limits: { maxDepth: 100, maxBaseElements: 100, maxInputLength: 8 << 20 },
    selectors: [
      {
        selector: "a",
        options: {
          ignoreHref: !links,
          pathRewrite: (path: string) => (URL.canParse(path, baseUrl) ? new URL(path, baseUrl).href : path),
          linkBrackets: ["[", "]"],
          hideLinkHrefIfSameAsText: true,
        },
      },
      { selector: "table", format: "dataTable" },
      ...skip.map((selector) => ({ selector, format: "skip" })),
    ],
  });
}
