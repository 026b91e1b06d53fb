import { defineTool, type ErrorCode, limits } from "@keyhole/kernel";
import { expect, it } from "vitest";
import { openService, readEvents } from "./service.ts";

/** A service with a tool that runs one call at a time, for as long as `block` runs. */
async function busy() {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<string>();
  const tool = defineTool({
    name: "one_by_one",
    version: "1.0.0",
    description: "Runs one call at a time.",
    bounds: { concurrency: 1, timeoutMs: 300_000 },
    input: { type: "object" },
    output: { kind: "text" },
    execute: () => (begun.resolve(), end.promise),
  });
  const { call } = await openService({}, undefined, [tool]);
  const first = call("one_by_one", { input: {} });
  await begun.promise;
  return { call: (body: object, headers = {}) => call("one_by_one", { input: {}, ...body }, headers), first, end };
}

type Refusal = { readonly code: ErrorCode; readonly result: { readonly error: { readonly details: object } } };

it("a waitMs of 0 is refused at once, with 429 and Retry-After", async () => {
  const { call, first, end } = await busy();
  const response = await call({ waitMs: 0 });
  expect(response.status).toBe(429);
  expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
  const problem: Refusal = await response.json();
  expect(problem).toMatchObject({
    code: "RATE_LIMITED",
    result: { error: { details: { bound: "concurrency", limit: 1, position: 1 } } },
  });
  end.resolve("done");
  expect((await first).status).toBe(200);
});

it("a call without waitMs waits for its slot, and its events say so", async () => {
  const { call, first, end } = await busy();
  const waiting = await call({}, { accept: "text/event-stream" });
  const events = readEvents(waiting);
  const after = call({ waitMs: 300_000 });
  end.resolve("done");
  const audit = (await events).filter(({ event }) => event === "audit").map(({ data }) => data as { type: string });
  expect(audit).toContainEqual(
    expect.objectContaining({ type: "call.queued", payload: { position: 1, waitMs: limits.waitMs } }),
  );
  for (const response of [await first, await after]) expect(response.status).toBe(200);
});

it.each([-1, 0.5, limits.longestWaitMs + 1, "1"])(
  "a waitMs of %s is refused as a malformed request",
  async (waitMs) => {
    const { call, first, end } = await busy();
    const response = await call({ waitMs });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: "INVALID_REQUEST" });
    end.resolve("done");
    await first;
  },
);
