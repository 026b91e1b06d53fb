import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fixture, startFixture } from "../peers/mcp-conformance/fixture.ts";
import { png } from "../peers/mcp-conformance/tools.ts";
import { clientOf, type Era, eras } from "./support.ts";

/** The core of the protocol's conformance suite, over the same server; the suite itself runs in the thorough part `peers`. */

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture();
});
afterAll(async () => {
  await fixture.server.close();
  await fixture.kernel.close();
});

async function connected(era: Era): Promise<Client> {
  const client = clientOf(era, { capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} } });
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Alice" } }));
  await client.connect(new StreamableHTTPClientTransport(new URL(fixture.server.url)));
  return client;
}

const blocks: readonly (readonly [tool: string, content: readonly object[]])[] = [
  ["test_simple_text", [{ type: "text", text: "This is a simple text response for testing." }]],
  ["test_image_content", [{ type: "image", data: png, mimeType: "image/png" }]],
  ["test_audio_content", [{ type: "audio", mimeType: "audio/wav" }]],
  ["test_embedded_resource", [{ type: "resource", resource: { uri: "test://embedded-resource" } }]],
  ["test_multiple_content_types", [{ type: "text" }, { type: "image" }, { type: "resource" }]],
  ["test_input_required_result_elicitation", [{ type: "text", text: "Hello, Alice!" }]],
];

describe.each(eras)("the fixture of the conformance suite in %s", (era) => {
  it("gives each kind of content, fails as a result, and reports progress", async () => {
    const client = await connected(era);
    for (const [name, content] of blocks)
      expect(await client.callTool({ name, arguments: {} }), name).toMatchObject({ content });
    expect(await client.callTool({ name: "test_error_handling", arguments: {} })).toMatchObject({ isError: true });
    const done: number[] = [];
    const onprogress = ({ progress }: { readonly progress: number }): void => void done.push(progress);
    await client.callTool({ name: "test_tool_with_progress", arguments: {} }, { onprogress });
    expect(done).toEqual([0, 50, 100]);
    await client.close();
  });

  it("has prompts, resources and completion beside the kernel's tools", async () => {
    const client = await connected(era);
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain("test_prompt_with_arguments");
    expect(await client.readResource({ uri: "test://static-text" })).toMatchObject({
      contents: [{ mimeType: "text/plain" }],
    });
    const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" } as const;
    const completed = await client.complete({ ref, argument: { name: "arg1", value: "par" } });
    expect(completed.completion.values).toEqual(["paris", "park", "party"]);
    await client.close();
  });
});
