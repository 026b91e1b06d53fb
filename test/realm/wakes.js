/**
 * A tool that looks for what the platform would wake it with. Each way runs many times in a row, and all that time the tool lets no task of the platform come: it never lets the
 * microtasks end. What has not ended then waits for such a task, or for ever.
 */
const ROUNDS = 200;
const TURNS = 300_000;

const text = "abc";
const bytes = () => new Uint8Array([97, 98, 99]);
const has = (name) => name in globalThis;
const drain = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts.length;
};
const read = async (stream) => {
  const reader = stream.getReader();
  while (!(await reader.read()).done);
  await reader.closed;
  reader.releaseLock();
};
function pulled(count = 2, more = {}) {
  let left = count;
  return new ReadableStream({
    ...more,
    pull(controller) {
      if (left-- > 0) controller.enqueue(bytes());
      else controller.close();
    },
  });
}
const sink = () => new WritableStream({ write() {}, close() {} });

const ways = {
  "Response.text": () => new Response(text).text(),
  "Response.json": () => new Response("1").json(),
  "Response.bytes": () => new Response(bytes()).bytes(),
  "Response.arrayBuffer": () => new Response(bytes()).arrayBuffer(),
  "Response of nothing": () => new Response(null).text(),
  "Response of a form": () => new Response(new URLSearchParams("a=1")).text(),
  "Response.json()": () => Response.json({ a: 1 }).json(),
  "Response.clone": () => new Response(text).clone().text(),
  "Response.error": () => Response.error().text(),
};
if (has("ReadableStream"))
  Object.assign(ways, {
    "Response.body, iterated": () => drain(new Response(text).body),
    "Response.body, read": () => read(new Response(text).body),
    "Response.body, cancelled": () => new Response(text).body.cancel(),
    "Response.body, piped": () => new Response(text).body.pipeTo(sink()),
    "Response.body, decoded": () => drain(new Response(text).body.pipeThrough(new TextDecoderStream())),
    "Response.body, in two": () => Promise.all(new Response(text).body.tee().map(drain)),
    "Response.body of a copy": () => drain(new Response(text).clone().body),
    "Response of a stream": () => new Response(pulled()).text(),
    "Response of a stream, copied": async () => {
      const response = new Response(pulled());
      const copy = response.clone();
      await Promise.all([response.text(), copy.text()]);
    },
    "Response of a body": () => new Response(new Response(text).body).text(),
    "Response of a stream that fails": () =>
      new Response(
        new ReadableStream({
          pull() {
            throw new Error("no");
          },
        }),
      )
        .text()
        .catch(() => {}),
    "ReadableStream, iterated": () => drain(pulled()),
    "ReadableStream, read": () => read(pulled()),
    "ReadableStream of bytes": () => read(pulled(2, { type: "bytes" })),
    "ReadableStream of bytes, by view": async () => {
      const reader = pulled(1, { type: "bytes" }).getReader({ mode: "byob" });
      await reader.read(new Uint8Array(8));
      await reader.cancel();
    },
    "ReadableStream, started later": () =>
      drain(
        new ReadableStream({
          start: async (c) => {
            await null;
            c.enqueue(bytes());
            c.close();
          },
        }),
      ),
    "ReadableStream, piped": () => pulled().pipeTo(sink()),
    "ReadableStream, piped with a signal": () => pulled().pipeTo(sink(), { signal: new AbortController().signal }),
    "ReadableStream, piped and ended": () => {
      const controller = new AbortController();
      const piped = pulled(1e9).pipeTo(sink(), { signal: controller.signal });
      controller.abort();
      return piped.catch(() => {});
    },
    "ReadableStream, in two": () => Promise.all(pulled().tee().map(drain)),
    "ReadableStream, cancelled": () => pulled().cancel(),
    "ReadableStream.from": () => ReadableStream.from?.([1, 2]) && drain(ReadableStream.from([1, 2])),
    TransformStream: () => drain(pulled().pipeThrough(new TransformStream())),
    "TransformStream, that waits": () =>
      drain(
        pulled().pipeThrough(
          new TransformStream({
            transform: async (c, t) => {
              await null;
              t.enqueue(c);
            },
          }),
        ),
      ),
    TextDecoderStream: () => drain(pulled().pipeThrough(new TextDecoderStream())),
    TextEncoderStream: () =>
      drain(
        new ReadableStream({
          start(c) {
            c.enqueue("a");
            c.close();
          },
        }).pipeThrough(new TextEncoderStream()),
      ),
    WritableStream: async () => {
      const writer = sink().getWriter();
      await writer.write(1);
      await writer.ready;
      await writer.close();
      await writer.closed;
    },
    "WritableStream, ended": async () => {
      await sink().abort();
    },
    "structuredClone of a stream": () => {
      const stream = pulled();
      return read(structuredClone(stream, { transfer: [stream] }));
    },
    "structuredClone of a sink": async () => {
      const stream = sink();
      const writer = structuredClone(stream, { transfer: [stream] }).getWriter();
      await writer.write(1);
      await writer.close();
    },
    "structuredClone of a pair": async () => {
      const stream = new TransformStream();
      const { readable, writable } = structuredClone(stream, { transfer: [stream] });
      const done = drain(readable);
      const writer = writable.getWriter();
      await writer.write(1);
      await writer.close();
      await done;
    },
  });
Object.assign(ways, {
  structuredClone: async () => structuredClone({ a: new ArrayBuffer(1) }),
  "structuredClone that moves": async () => {
    const buffer = new ArrayBuffer(1);
    return structuredClone(buffer, { transfer: [buffer] });
  },
  AbortSignal: () =>
    new Promise((resolve) => {
      const controller = new AbortController();
      (AbortSignal.any?.([controller.signal]) ?? controller.signal).addEventListener("abort", resolve);
      controller.abort();
    }),
  EventTarget: () =>
    new Promise((resolve) => {
      const target = new EventTarget();
      target.addEventListener("a", resolve);
      target.dispatchEvent(new Event("a"));
    }),
  queueMicrotask: () => new Promise((resolve) => queueMicrotask(resolve)),
  Promise: async () => {
    await Promise.all([1, Promise.resolve()]);
  },
  "async iteration": async () => {
    for await (const _ of (async function* () {
      yield 1;
      yield 2;
    })());
  },
  "Array.fromAsync": () => Array.fromAsync?.([1, 2]),
});

export default {
  code: {
    async execute() {
      const ended = new Map();
      for (const [name, way] of Object.entries(ways)) {
        ended.set(name, "waits for a task");
        (async () => {
          for (let i = 0; i < ROUNDS; i++) await way();
        })().then(
          () => ended.set(name, "ended"),
          (error) => ended.set(name, error.name),
        );
      }
      for (let turn = 0; turn < TURNS; turn++) await null;
      return Object.fromEntries(ended);
    },
  },
};
