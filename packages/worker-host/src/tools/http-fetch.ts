import { defineTool } from "@keyhole/kernel/tool";
import { bytesOf, decodeText, encodeBase64, looksBinary } from "./encoding.ts";

export default defineTool({
  name: "http_fetch",
  version: "1.0.0",
  title: "HTTP request",
  description:
    "Sends one HTTP request to a host that the policy allows and returns status, headers and body. Redirects are followed to allowed hosts only. " +
    "A status of 400 or more is a result, not an error. The body is text where it is valid UTF-8, else base64; at most 2 MiB.",
  category: "network",
  effects: ["net.read", "net.write"],
  determinism: "external",
  tier: 1,
  risk: "medium",
  capabilities: [
    { kind: "net.read", hosts: ["*"], target: { url: "/url", method: "/method" } },
    { kind: "net.write", hosts: ["*"], target: { url: "/url", method: "/method" }, optional: true },
  ],
  // The body arrives as bytes and leaves as base64 in JSON, or as text in which each character may need a backslash.
  bounds: { timeoutMs: 30_000, networkBytes: 2 << 20, outputBytes: 5 << 20 },
  input: {
    type: "object",
    properties: {
      url: {
        type: "string",
        minLength: 1,
        maxLength: 8_192,
        description: "Absolute http or https URL, without user name and password.",
      },
      method: { enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"], default: "GET" },
      headers: {
        type: "object",
        additionalProperties: { type: "string", maxLength: 8_192 },
        maxProperties: 32,
        description: 'Request headers by name, such as { "accept": "application/json" }.',
      },
      body: {
        type: "string",
        description: "Request body, in the form that `bodyEncoding` says. Not for GET and HEAD.",
      },
      bodyEncoding: { enum: ["text", "base64"], default: "text" },
    },
    required: ["url"],
    additionalProperties: false,
    examples: [{ url: "https://example.com/", headers: { accept: "text/html" } }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: {
        url: { type: "string", description: "Where the response came from, after redirects." },
        status: { type: "integer", minimum: 200, maximum: 599 },
        headers: {
          type: "object",
          additionalProperties: { type: "string" },
          description: "By lower-case name; repeated ones joined by `, `.",
        },
        body: { type: "string" },
        bodyEncoding: { enum: ["text", "base64"] },
        byteLength: { type: "integer", minimum: 0, description: "Bytes of the body." },
      },
      required: ["url", "status", "headers", "body", "bodyEncoding", "byteLength"],
      additionalProperties: false,
    },
  },
  check({ method, body, bodyEncoding }) {
    if (body === undefined) return undefined;
    if (method === "GET" || method === "HEAD") return `A ${method} request has no body; leave it out or use POST.`;
    const bytes = bytesOf(body, bodyEncoding);
    return typeof bytes === "string" ? `\`body\` is unreadable: ${bytes}.` : undefined;
  },
  async execute({ url, method, headers = {}, body, bodyEncoding }, context) {
    const payload = body === undefined || bodyEncoding === "text" ? body : bytesOf(body, bodyEncoding);
    const response = await context.fetch(url, { method, headers, ...(payload !== undefined && { body: payload }) });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const text = decodeText(bytes);
    const isText = text !== undefined && !looksBinary(text);
    return {
      url: response.url,
      status: response.status,
      headers: headersOf(response),
      body: isText ? text : encodeBase64(bytes),
      bodyEncoding: isText ? ("text" as const) : ("base64" as const),
      byteLength: bytes.length,
    };
  },
});

function headersOf(response: Response): Record<string, string> {
  const headers = new Map<string, string>();
  response.headers.forEach((value, name) =>
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value),
  );
  return Object.fromEntries(headers);
}
