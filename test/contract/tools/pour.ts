import { defineTool, type ToolContext } from "@keyhole/kernel/tool";

/** How many pieces the tool has made, and whether its stream was told to stop: module state, read by the next call of the session. */
let made = 0;
let stopped = false;

const piece = (length: number, at: number): Uint8Array => new Uint8Array(length).fill(at & 255);

async function* counted(pieces: number, length: number): AsyncGenerator<Uint8Array> {
  made = 0;
  stopped = false;
  let whole = false;
  try {
    for (let i = 0; i < pieces; i++) {
      made++;
      yield piece(length, i);
    }
    whole = true;
  } finally {
    stopped = !whole;
  }
}

type Deed = (pieces: number, length: number, context: ToolContext) => unknown;

/** Good and bad streams, one per call: what every isolate must take from a tool. */
const deeds: Readonly<Record<string, Deed>> = {
  pour: counted,
  account: () => [new TextEncoder().encode(JSON.stringify({ made, stopped }))],
  "pour from a ReadableStream": (pieces, length) => {
    // The interpreter has none; there the generator itself is the stream.
    if (typeof ReadableStream === "undefined") return counted(pieces, length);
    let at = 0;
    return new ReadableStream({
      pull(controller) {
        if (at === pieces) controller.close();
        else controller.enqueue(piece(length, at++));
      },
    });
  },
  "pour from one buffer": function* (pieces, length) {
    const buffer = new Uint8Array(length);
    for (let i = 0; i < pieces; i++) yield buffer.fill(i & 255);
  },
  "pour views of a large buffer": function* (pieces, length) {
    const large = new Uint8Array(1 << 20);
    for (let i = 0; i < pieces; i++) yield large.subarray(i, i + length);
  },
  "pour nothing now and then": function* (pieces, length) {
    for (let i = 0; i < pieces; i++) yield* [new Uint8Array(), piece(length, i)];
  },
  "report and pour": async function* (pieces, length, { log, progress }) {
    for (let i = 0; i < pieces; i++) {
      log(`piece ${i}`);
      yield piece(length, i);
      progress({ done: i + 1, total: pieces });
    }
  },
  "read and pour": async function* (_pieces, _length, { files }) {
    yield await files.read("granted");
    yield await files.read("granted");
  },

  "throw at once": () => {
    throw new RangeError("on purpose");
  },
  "throw midway": async function* (pieces, length) {
    yield* counted(pieces, length);
    throw new RangeError("on purpose");
  },
  "fail the stream midway": (pieces, length) => {
    if (typeof ReadableStream === "undefined") throw new RangeError("on purpose");
    let at = 0;
    return new ReadableStream({
      pull(controller) {
        if (at === pieces) controller.error(new RangeError("on purpose"));
        else controller.enqueue(piece(length, at++));
      },
    });
  },
  "no stream": () => 7,
  nothing: () => undefined,
  "bytes themselves": (_, length) => piece(length, 1),
  "a text in between": function* (_, length) {
    yield piece(length, 0);
    yield "text";
  },
  "a then-able in between": async function* (_, length) {
    yield piece(length, 0);
    yield { then: (resolve: (value: unknown) => void) => resolve("later") };
  },
  "numbers in between": function* (_, length) {
    yield piece(length, 0);
    yield [1, 2, 3];
  },
  "a detached piece": function* (_, length) {
    yield piece(length, 0);
    const gone = piece(length, 1);
    structuredClone(gone, { transfer: [gone.buffer as ArrayBuffer] });
    yield gone;
  },
  "pour without end": (_, length) => counted(Infinity, length),
  "pour and hang": async function* (pieces, length) {
    yield* counted(pieces, length);
    await new Promise(() => {});
  },
  "pour and loop": async function* (pieces, length) {
    yield* counted(pieces, length);
    for (;;);
  },
};

export default defineTool({
  name: "pour",
  version: "1.0.0",
  description: "Gives one stream of a list, many of them bad.",
  determinism: "external",
  effects: ["fs.read"],
  capabilities: [{ kind: "fs.read", paths: ["**"], optional: true }],
  bounds: { outputBytes: 16_777_216, timeoutMs: 20_000 },
  input: {
    type: "object",
    properties: { deed: { type: "string" }, pieces: { type: "integer" }, length: { type: "integer" } },
    required: ["deed"],
  },
  output: { kind: "stream", mediaType: "application/octet-stream" },
  execute: ({ deed, pieces = 0, length = 0 }, context) =>
    deeds[deed]!(pieces, length, context) as AsyncIterable<Uint8Array>,
});
