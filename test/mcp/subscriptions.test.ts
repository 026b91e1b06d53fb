import { bearerTokens, type McpHandlerOptions } from "@keyhole/mcp";
import { describe, expect, it } from "vitest";
import { settle } from "../support/fake-clock.ts";
import { collectGarbage } from "../support/held-memory.ts";
import { toolOf } from "../support/kernel.ts";
import { request } from "./raw.ts";
import { closeAfterEach, handlerOf, kernelWith, register, standardTools } from "./support.ts";

closeAfterEach();

/** A stream as its client has it. */
interface Heard {
  text: string;
  isOver: boolean;
  readonly body: ReadableStreamDefaultReader<Uint8Array>;
}

async function opened(options: Partial<McpHandlerOptions>) {
  const kernel = await kernelWith(standardTools({ deeds: [] }));
  const tokens = ["mallory", "ada", "bob"].map((caller) => [`${caller}-has-this-token`, { caller }] as const);
  const handler = handlerOf(kernel, { authenticate: bearerTokens(tokens), ...options });
  const listen = async (caller: string, leaving?: AbortSignal, toolsListChanged = true): Promise<Heard> => {
    const asked = request({
      method: "subscriptions/listen",
      params: { notifications: { toolsListChanged } },
      headers: { authorization: `Bearer ${caller}-has-this-token` },
    });
    const { body } = await handler.fetch(leaving ? new Request(asked, { signal: leaving }) : asked);
    const heard: Heard = { text: "", isOver: false, body: body!.getReader() };
    void (async () => {
      for (let read = await heard.body.read(); !read.done; read = await heard.body.read())
        heard.text += new TextDecoder().decode(read.value);
      heard.isOver = true;
    })();
    await settle();
    return heard;
  };
  const change = async (): Promise<void> => {
    register(
      kernel,
      toolOf(() => 1, { name: "another" }),
    );
    await settle();
  };
  return { listen, change };
}

/** Of each stream: whether it is open and heard of the change. */
const hear = (streams: readonly Heard[]): readonly boolean[] =>
  streams.map(({ text, isOver }) => !isOver && text.includes("acknowledged") && text.includes("list_changed"));

describe("streams on which clients hear of changes", () => {
  it("are so many for each caller, whose oldest ends, and no other caller loses one", async () => {
    const { listen, change } = await opened({ subscriptionsPerCaller: 2 });
    const ada = await listen("ada");
    const mallory = [];
    for (let at = 0; at < 4; at++) mallory.push(await listen("mallory"));
    await change();
    expect(hear([ada, ...mallory])).toEqual([true, false, false, true, true]);
    expect(mallory.map(({ isOver }) => isOver)).toEqual([true, true, false, false]);
  });

  it("end also when the collector took their requests", async () => {
    const { listen } = await opened({ subscriptionsPerCaller: 1 });
    const leaving = new AbortController();
    const [first, left] = [await listen("ada"), await listen("bob", leaving.signal)];
    await collectGarbage();
    const second = await listen("ada");
    leaving.abort();
    await settle();
    expect([first, second, left].map(({ isOver }) => isOver)).toEqual([true, false, true]);
  });

  it("are so many in all: the caller with the most loses its oldest for another caller's first", async () => {
    const { listen, change } = await opened({ subscriptions: 3 });
    const [ada, first, second] = [await listen("ada"), await listen("mallory"), await listen("mallory")];
    const bob = await listen("bob");
    await change();
    expect(hear([ada, first, second, bob])).toEqual([true, false, true, true]);
  });

  it("leave room when the client leaves, cancels, or asked for nothing", async () => {
    const { listen, change } = await opened({ subscriptionsPerCaller: 2 });
    const leaving = new AbortController();
    const [first, gone] = [await listen("ada"), await listen("ada", leaving.signal)];
    leaving.abort();
    const cancelled = await listen("ada");
    await cancelled.body.cancel();
    const nothing = await listen("ada", undefined, false);
    const last = await listen("ada");
    await change();
    expect(hear([first, gone, cancelled, nothing, last])).toEqual([true, false, false, false, true]);
  });
});
