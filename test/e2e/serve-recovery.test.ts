import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectNoneLeft } from "./edge-descriptors.ts";
import { type OwnEdge, startOwnEdge } from "./own-edge.ts";
import { sized } from "../support/size.ts";
import { killed, type Part, untilServing } from "./serve-recovery.ts";

let own: OwnEdge;
let failure: string | undefined;
beforeAll(async () => {
  own = await startOwnEdge();
  void own.edge.failed.then((reason) => (failure = reason));
});
afterAll(() => own?.edge.stop());

it("holds no descriptor of a call that has ended", () => expectNoneLeft(own, 40));

describe("an edge that npm start runs serves again by itself", () => {
  const orders: readonly (readonly [readonly Part[]])[] = [[["keeper"]]];
  const more: typeof orders = [
    [["sandbox", "kernel"]],
    [["kernel", "kernel", "kernel"]],
    [["kernel"]],
    [["sandbox"]],
    [["kernel", "sandbox"]],
    [["sandbox", "sandbox", "sandbox"]],
  ];
  it.each(sized(orders, [...orders, ...more]))("after the death of %j in quick succession", async (order) => {
    for (const part of order) await killed(own, part);
    await untilServing(own);
    expect(failure).toBeUndefined();
  });

  it("after the death of kernel and sandbox at once", async () => {
    await Promise.all([killed(own, "kernel"), killed(own, "sandbox")]);
    await untilServing(own);
    expect(failure).toBeUndefined();
  });
});

it("answers without a stack or a path, whatever dies meanwhile and however large the body is", async () => {
  const headers = { authorization: "Bearer own-token", "content-type": "application/json" };
  const said: string[] = [];
  let going = true;
  const asking = Array.from({ length: 4 }, async (_, i) => {
    while (going) {
      const path = i % 2 === 0 ? "/v1/tools/kv_get/calls" : "/healthz";
      const body = JSON.stringify({ input: { key: "workspace/a" }, sessionId: crypto.randomUUID() });
      const init = i % 2 === 0 ? { method: "POST", headers, body } : {};
      const answer = await fetch(own.edge.url + path, init).catch(() => undefined);
      if (answer && !answer.ok) said.push(await answer.text().catch(() => ""));
    }
  });
  for (const part of sized(["kernel", "sandbox"] as const, ["kernel", "sandbox", "kernel"] as const)) {
    await killed(own, part);
    await untilServing(own);
  }
  going = false;
  await Promise.all(asking);
  // More than is read of one that nobody wants.
  let megabytes = 120;
  const endless = new ReadableStream({
    pull: (controller) => (megabytes-- > 0 ? controller.enqueue(new Uint8Array(1 << 20)) : controller.close()),
  });
  const init: RequestInit & { readonly duplex: "half" } = { method: "POST", headers, body: endless, duplex: "half" };
  const large = await fetch(`${own.edge.url}/v1/tools/kv_get/calls`, init);
  said.push(await large.text());
  expect(large.status).toBe(413);
  expect(said.filter((text) => text !== "" && !text.startsWith("{"))).toEqual([]);
  expect(said.filter((text) => /\n\s+at |file:|node_modules|127\.0\.0\.1/.test(text))).toEqual([]);
});

it("keeps what was recorded before", async () => {
  const read = async (from: number): Promise<readonly { readonly hash: string }[]> => {
    const headers = { authorization: "Bearer own-token" };
    const response = await fetch(`${own.edge.url}/v1/audit?from=${from}&limit=1000`, { headers });
    return ((await response.json()) as { readonly events: readonly { readonly hash: string }[] }).events;
  };
  const before = await read(0);
  expect(before.length).toBeGreaterThan(0);
  await killed(own, "kernel");
  await untilServing(own);
  expect((await read(0)).slice(0, before.length)).toEqual(before);
});
