import { describe, expect, it } from "vitest";
import { hardenClone } from "../../packages/worker-host/src/guest/harden/clone.ts";
import { hardenResponse } from "../../packages/worker-host/src/guest/harden/response.ts";

const realm: { Response?: typeof Response; structuredClone?: typeof structuredClone } = { structuredClone };
hardenResponse(realm);
hardenClone(realm);
const Hardened = realm.Response!;
const clone = realm.structuredClone!;

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const streamOf = (...chunks: unknown[]): ReadableStream<Uint8Array<ArrayBuffer>> =>
  new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk as Uint8Array<ArrayBuffer>);
      controller.close();
    },
  });
const described = (response: Response): unknown[] => [
  response.status,
  response.statusText,
  response.ok,
  response.type,
  response.url,
  response.redirected,
  response.bodyUsed,
  response.body === null,
  [...response.headers],
];
const collected = async (stream: ReadableStream<Uint8Array> | null): Promise<string> => {
  let text = "";
  for await (const part of stream ?? []) text += new TextDecoder().decode(part);
  return text;
};

/** What a program does with the class `Response`; the engine's own is the judge. */
const uses: Readonly<Record<string, (Class: typeof Response) => unknown>> = {
  "nothing in it": (R) => described(new R()),
  "a text": (R) => described(new R("é")),
  "a form": (R) => described(new R(new URLSearchParams({ a: "1" }))),
  bytes: (R) => described(new R(bytes("a"))),
  "a buffer": async (R) => new R(bytes("abc").buffer).text(),
  "part of a buffer": async (R) => new R(bytes("abc").subarray(1)).text(),
  "all that can be said": (R) =>
    described(new R("a", { status: 404, statusText: "Not there", headers: { "x-a": "b", "content-type": "a/b" } })),
  "a status as text": (R) => new R(null, { status: "204" as unknown as number }).status,
  "no options": (R) => new R(null, null as unknown as ResponseInit).status,
  "a status that is none": (R) => new R(null, { status: 199 }),
  "a status text that is none": (R) => new R(null, { statusText: "a\nb" }),
  "a body where none may be": (R) => new R("", { status: 204 }),
  "a failure": (R) => described(R.error()),
  "a copy of a failure": (R) => R.error().clone().type,
  json: async (R) => [described(R.json({ a: 1 }, { status: 201 })), await R.json({ a: [1] }).json()],
  "json of another type": (R) => R.json(1, { headers: { "content-type": "a/b" } }).headers.get("content-type"),
  "json of nothing": (R) => R.json(undefined),
  "a redirect": (R) => described(R.redirect("https://a.example/b c", 301)),
  "a redirect to nowhere": (R) => R.redirect("nowhere"),
  "a redirect that is none": (R) => R.redirect("https://a.example", 200),
  "text with a byte order mark": (R) => new R(new Uint8Array([239, 187, 191, 97])).text(),
  "what is no json": (R) => new R("{").json(),
  "a body read twice": async (R) => {
    const response = new R("a");
    await response.text();
    return response.text();
  },
  "nothing, read twice": async (R) => {
    const response = new R();
    return [await response.text(), await response.text(), response.bodyUsed];
  },
  "a copy of what was read": async (R) => {
    const response = new R("a");
    await response.text();
    return response.clone();
  },
  copies: async (R) => {
    const response = new R("a", { status: 203, headers: { a: "b" } });
    const copy = response.clone();
    copy.headers.set("a", "c");
    return [await response.text(), response.headers.get("a"), copy.status, await copy.text()];
  },
  "a stream": async (R) => [described(new R(streamOf())), await new R(streamOf(bytes("a"), bytes("b"))).text()],
  "a stream of texts": (R) => new R(streamOf("a")).text(),
  "a stream in use": (R) => {
    const stream = streamOf();
    stream.getReader();
    return new R(stream);
  },
  "copies of a stream": async (R) => {
    const response = new R(streamOf(bytes("a"), bytes("b")));
    const copy = response.clone();
    return [await response.text(), await copy.text()];
  },
  "its body": async (R) => {
    const response = new R("abc");
    const { body } = response;
    return [body === response.body, response.bodyUsed, await collected(body), response.bodyUsed];
  },
  "its body, and then its text": async (R) => {
    const response = new R("abc");
    await collected(response.body);
    return response.text();
  },
  "its body, not read, and then its text": async (R) => {
    const response = new R("abc");
    return [response.body === null, await response.text(), response.bodyUsed];
  },
  "its body in use": (R) => {
    const response = new R("abc");
    response.body?.getReader();
    return response.text();
  },
  "its body, copied": async (R) => {
    const response = new R("abc");
    void response.body;
    const copy = response.clone();
    return [response.bodyUsed, await collected(copy.body), await response.text()];
  },
  "its body by views": async (R) => {
    const reader = new R("abc").body!.getReader({ mode: "byob" });
    const { value } = await reader.read(new Uint8Array(2));
    const rest = await reader.read(new Uint8Array(2));
    const last = await reader.read(new Uint8Array(2));
    return [[...value!], [...rest.value!], last.done];
  },
  "an empty body by views": async (R) =>
    (await new R("").body!.getReader({ mode: "byob" }).read(new Uint8Array(2))).done,
  "its class": (R) => [R.name, String(new R()), new R() instanceof R],
};

async function whatComes(use: () => unknown): Promise<unknown> {
  try {
    const value = await use();
    return value instanceof Response || value instanceof Hardened ? "a response" : value;
  } catch (error) {
    return (error as Error).name;
  }
}

describe("a response of the hardened realm", () => {
  it.each(Object.entries(uses))("does what the engine's own does with %s", async (_, use) => {
    expect(await whatComes(() => use(Hardened))).toEqual(await whatComes(() => use(Response)));
  });
});

describe("a copy of the hardened realm", () => {
  it("gives memory away", () => {
    const buffer = new ArrayBuffer(3);
    const copy = clone({ buffer }, { transfer: [buffer] });
    expect([copy.buffer.byteLength, buffer.detached]).toEqual([3, true]);
  });

  it.each<[string, () => Transferable[]]>([
    ["a stream", () => [new ReadableStream()]],
    ["a port", () => [new MessageChannel().port1]],
    ["the same memory twice", () => ((buffer) => [buffer, buffer])(new ArrayBuffer(1))],
    [
      "memory that is gone",
      () => [((buffer) => (structuredClone(buffer, { transfer: [buffer] }), buffer))(new ArrayBuffer(1))],
    ],
    ["what says that it is memory", () => [Object.create(ArrayBuffer.prototype) as ArrayBuffer]],
  ])("does not give away %s", (_, transfer) => {
    expect(() => clone(1, { transfer: transfer() })).toThrow(expect.objectContaining({ name: "DataCloneError" }));
  });
});
