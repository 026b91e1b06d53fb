import { bearerTokens, type McpHandler } from "@keyhole/mcp";
import { describe, expect, it } from "vitest";
import { UnreadAnswers } from "../../packages/mcp/src/server/unread.ts";
import { settle } from "../support/fake-clock.ts";
import { answerOf, request } from "./raw.ts";
import { closeAfterEach, handlerOf, kernelWith, standardTools } from "./support.ts";

closeAfterEach();

const stays = new AbortController().signal;
const answer = (bytes: number): Response => new Response(new Uint8Array(bytes), { status: 201, headers: { a: "b" } });

describe("answers that wait for a caller's clients", () => {
  it("end with an error above the bound, and those before and of other callers stay", async () => {
    const unread = new UnreadAnswers(1_000);
    const [first, second, other] = [
      unread.count("mallory", answer(600), stays),
      unread.count("mallory", answer(401), stays),
      unread.count("ada", answer(1_000), stays),
    ];
    await settle();
    await expect(second.arrayBuffer()).rejects.toThrow("does not read its answers");
    expect([unread.isFull("mallory"), unread.isFull("ada")]).toEqual([false, true]);
    expect((await first.arrayBuffer()).byteLength).toBe(600);
    expect((await other.arrayBuffer()).byteLength).toBe(1_000);
    expect(unread.isFull("ada")).toBe(false);
    const large = unread.count("mallory", answer(1_000), stays);
    expect([large.status, large.headers.get("a"), (await large.arrayBuffer()).byteLength]).toEqual([201, "b", 1_000]);
  });

  it("count no more when the client cancels, leaves, or had left before", async () => {
    const unread = new UnreadAnswers(1_000);
    const leaving = new AbortController();
    const cancelled = unread.count("ada", answer(1_000), stays);
    await settle();
    await cancelled.body?.cancel();
    expect(unread.isFull("ada")).toBe(false);
    unread.count("ada", answer(1_000), leaving.signal);
    await settle();
    expect(unread.isFull("ada")).toBe(true);
    leaving.abort();
    unread.count("ada", answer(1_000), leaving.signal);
    await settle();
    expect(unread.isFull("ada")).toBe(false);
  });

  it("are taken from a source without end up to the bound, and from one without news as it comes", async () => {
    const unread = new UnreadAnswers(1_000);
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull: (stream) => stream.enqueue(new Uint8Array(100)),
      cancel: () => void (isCancelled = true),
    });
    const flood = unread.count("mallory", new Response(endless), stays);
    await settle();
    await expect(flood.text()).rejects.toThrow("does not read its answers");
    expect([isCancelled, unread.isFull("mallory")]).toEqual([true, false]);
    let source!: ReadableStreamDefaultController<Uint8Array>;
    const slow = unread.count("ada", new Response(new ReadableStream({ start: (own) => void (source = own) })), stays);
    const text = slow.text();
    for (const word of ["a", "b"]) {
      source.enqueue(new TextEncoder().encode(word));
      await settle();
    }
    source.close();
    expect(await text).toBe("ab");
  });
});

it("a caller that reads none of its answers over HTTP gets no further one, and another caller does", async () => {
  const kernel = await kernelWith(standardTools({ deeds: [] }));
  const tokens = ["mallory", "ada"].map((caller) => [`${caller}-has-this-token`, { caller }] as const);
  const handler = handlerOf(kernel, { authenticate: bearerTokens(tokens), unreadBytes: 10_000 });
  const ask = (caller: string): ReturnType<McpHandler["fetch"]> =>
    handler.fetch(
      request({
        method: "tools/call",
        params: { name: "echo", arguments: { message: "x".repeat(4_000) } },
        headers: { authorization: `Bearer ${caller}-has-this-token` },
      }),
    );
  const first = await ask("mallory");
  await settle();
  const second = await ask("mallory");
  await settle();
  await expect(second.text()).rejects.toThrow("does not read its answers");
  await first.body?.cancel();
  expect(await answerOf(await ask("ada"))).toMatchObject({ result: { structuredContent: {} } });
  expect(await answerOf(await ask("mallory"))).toMatchObject({ result: { structuredContent: {} } });
});
