/** A tool that leaves work behind, and tells how much of it was done. Imported as text. */
let done = 0;
const left = { way: "promises", rounds: 50 };

const bytes = () => new Uint8Array([97]);
const hasStreams = typeof ReadableStream === "function";
const stream = () => new ReadableStream({ start: (c) => (c.enqueue(bytes()), c.close()) });
async function drain(source) {
  for await (const _ of source);
}

const ways = {
  promises: async () => {},
  responses: () => new Response("x").text(),
  bodies: () => (hasStreams ? drain(new Response("x").body) : new Response("x").bytes()),
  "bodies of others": () => (hasStreams ? new Response(stream()).bytes() : new Response("x").arrayBuffer()),
  streams: () => hasStreams && drain(stream().pipeThrough(new TextDecoderStream())),
  copies: async () => {
    if (!hasStreams) return;
    const given = stream();
    try {
      await drain(structuredClone(given, { transfer: [given] }));
    } catch {
      await drain(given);
    }
  },
};

/** Nobody waits for it. */
async function goOn({ way, rounds }) {
  await null;
  for (let i = 0; i < (rounds ?? Infinity); i++) {
    await ways[way]();
    done++;
  }
}

const endings = {
  tells: () => done,
  returned: () => 1,
  threw: () => {
    throw new RangeError("on purpose");
  },
  unnormalizable: () => () => 1,
  "too large": () => "x".repeat(2_000),
  told: (_, { signal, log }) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve("told"));
      log("begun");
    }),
  stream: async function* () {
    yield bytes();
  },
};

export default {
  code: {
    check(input) {
      if (input.ending !== "tells") void goOn(input);
      return input.ending === "refused" ? "refused" : undefined;
    },
    execute: ({ ending }, context) => endings[ending](null, context),
    health() {
      void goOn(left);
      return "It is ill.";
    },
  },
};
