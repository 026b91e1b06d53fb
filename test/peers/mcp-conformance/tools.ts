import { defineTool, type Tool } from "@keyhole/kernel";
import { mcpOutputType } from "@keyhole/mcp";

export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";
const text = { type: "string" } as const;
const base = { version: "1.0.0", determinism: "external", description: "Of the conformance suite." } as const;
const plain = { ...base, input: { type: "object" }, output: { kind: "text" } } as const;
const content = { ...plain, output: { kind: "json", mediaType: mcpOutputType } } as const;

export function resourceBlock(uri: string, mimeType: string, words: string) {
  return { type: "resource", resource: { uri, mimeType, text: words } };
}

const binary = (name: string, mediaType: string, base64: string): unknown =>
  defineTool({
    ...plain,
    name,
    output: { kind: "binary", mediaType },
    execute: () => new Uint8Array(Buffer.from(base64, "base64")),
  });

const words = (name: string, result: string): unknown => defineTool({ ...plain, name, execute: () => result });

const schema2020 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: { address: { $anchor: "addressDef", type: "object", properties: { street: text, city: text } } },
  properties: {
    name: text,
    address: { $ref: "#/$defs/address" },
    contactMethod: { ...text, enum: ["phone", "email"] },
    phone: text,
    email: text,
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** @param changed what the tools that trigger a notice do */
export function suiteTools(changed: (what: "tools" | "prompts") => void): readonly Tool<never, unknown>[] {
  return [...contents(), ...reports(), ...triggers(changed), ...schemas()] as readonly Tool<never, unknown>[];
}

function contents(): readonly unknown[] {
  return [
    words("test_simple_text", "This is a simple text response for testing."),
    binary("test_image_content", "image/png", png),
    binary("test_audio_content", "audio/wav", wav),
    defineTool({
      ...content,
      name: "test_embedded_resource",
      execute: () => ({
        content: [resourceBlock("test://embedded-resource", "text/plain", "This is an embedded resource content.")],
      }),
    }),
    defineTool({
      ...content,
      name: "test_multiple_content_types",
      execute: () => ({
        content: [
          { type: "text", text: "Multiple content types test:" },
          { type: "image", data: png, mimeType: "image/png" },
          resourceBlock("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ],
      }),
    }),
  ];
}

function reports(): readonly unknown[] {
  return [
    defineTool({
      ...plain,
      name: "test_tool_with_logging",
      execute(_, { log }) {
        for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) log(line);
        return "logged";
      },
    }),
    defineTool({
      ...plain,
      name: "test_logging_tool",
      execute(_, { log }) {
        log("ran");
        return "logged";
      },
    }),
    defineTool({
      ...plain,
      name: "test_tool_with_progress",
      execute(_, { progress }) {
        for (const done of [0, 50, 100]) progress({ done, total: 100, message: `${done} of 100` });
        return "done";
      },
    }),
    defineTool({
      ...plain,
      name: "test_error_handling",
      execute: () => {
        throw new Error("This tool intentionally returns an error for testing");
      },
    }),
    words("test_streaming_elicitation", "done"),
  ];
}

function triggers(changed: (what: "tools" | "prompts") => void): readonly unknown[] {
  return [
    defineTool({ ...plain, name: "test_trigger_tool_change", execute: () => String(changed("tools")) }),
    defineTool({ ...plain, name: "test_trigger_prompt_change", execute: () => String(changed("prompts")) }),
  ];
}

function schemas(): readonly unknown[] {
  return [
    defineTool({
      ...plain,
      name: "test_x_mcp_header",
      input: {
        type: "object",
        properties: { region: { ...text, "x-mcp-header": "Region" }, level: { type: "integer" } },
      },
      execute: (input) => JSON.stringify(input),
    }),
    defineTool({
      ...plain,
      name: "json_schema_2020_12_tool",
      input: schema2020,
      execute: (input) => JSON.stringify(input),
    }),
  ];
}
