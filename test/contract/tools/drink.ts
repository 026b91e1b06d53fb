import { defineTool, type ToolContext } from "@keyhole/kernel/tool";

const say = (what: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(what));

async function countOf(body: AsyncIterable<Uint8Array>): Promise<number> {
  let count = 0;
  for await (const piece of body) count += piece.length;
  return count;
}

type Deed = (context: ToolContext) => AsyncIterable<Uint8Array>;

/** Ways to read a body, one per call: what comes out is a stream, so that one can flow into the other. */
const deeds: Readonly<Record<string, Deed>> = {
  echo: ({ body }) => body,
  count: async function* ({ body }) {
    yield say(await countOf(body));
  },
  "take the lengths": async function* ({ body }) {
    const lengths: number[] = [];
    for await (const piece of body) lengths.push(piece.buffer.byteLength, piece.length);
    yield say(lengths);
  },
  "read on after the end": async function* (context) {
    yield say([await countOf(context.body), await countOf(context.body)]);
  },
  taste: async function* ({ body }) {
    for await (const piece of body) {
      yield piece;
      return;
    }
  },
  leave: async function* () {},
  "catch what happens": async function* ({ body }) {
    try {
      await countOf(body);
      yield say("nothing");
    } catch (error) {
      yield say((error as Error).name);
    }
  },
  "ask meanwhile": async function* ({ body, files }) {
    for await (const piece of body) {
      await files.read("granted");
      yield piece;
    }
  },
};

export default defineTool({
  name: "drink",
  version: "1.0.0",
  description: "Reads its body in one way of a list.",
  determinism: "external",
  effects: ["fs.read"],
  capabilities: [{ kind: "fs.read", paths: ["**"], optional: true }],
  bounds: { outputBytes: 16_777_216, bodyBytes: 4_000_000, timeoutMs: 20_000 },
  input: { type: "object", properties: { deed: { type: "string" } }, required: ["deed"] },
  body: { mediaType: "application/octet-stream" },
  output: { kind: "stream" },
  execute: ({ deed }, context) => deeds[deed]!(context),
});
