import { type AuditEvent, type CallOptions, createKernel, hashJson, type JsonObject } from "@keyhole/kernel";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { describe, expect, it } from "vitest";
import { granting, openPolicy, toolOf } from "../support/kernel.ts";
import { moduleHost, packed } from "../support/module-host.ts";
import { fakeNet } from "../support/nested.ts";
import { type Answer, answerOf, clientOf, streamOf } from "./replayed-edge.ts";

const untrue = { name: "EdgeFault", code: "EDGE_UNTRUE" };

describe("a version", () => {
  const payOf = (version: string, description = "Pays.") =>
    toolOf(() => `paid by ${version}`, { name: "pay", version, description, output: { kind: "text" } });

  /** The answer of 2.0.0 to every request. */
  async function second(hash?: typeof sha256Hash) {
    const tools = [payOf("1.0.0"), payOf("2.0.0")];
    const kernel = await createKernel({ policy: openPolicy, host: moduleHost(tools[1]), ...(hash && { hash }) });
    for (const tool of tools) expect(kernel.register(packed(tool))).toMatchObject({ ok: true });
    const client = clientOf(await answerOf(kernel, "pay", {}));
    return (tool: unknown, version?: string) =>
      client.call(tool as string, {}, { ...(version !== undefined && { version }) }).catch((error: unknown) => error);
  }

  it.for([undefined, sha256Hash])("is that of the request, and the package too", async (hash) => {
    const call = await second(hash);
    for (const range of ["2.0.0", "^2.0.0", "2.x", undefined])
      expect(await call("pay", range)).toMatchObject({ ok: true, data: "paid by 2.0.0" });
    for (const range of ["1.0.0", "~1.0.0", "1", "no range"]) expect(await call("pay", range)).toMatchObject(untrue);
    expect(await call(packed(payOf("2.0.0")))).toMatchObject({ ok: true });
    expect(await call(packed(payOf("1.0.0")))).toMatchObject(untrue);
    expect(await call(packed(payOf("2.0.0", "Pays twice.")))).toMatchObject(untrue);
    expect(await call(packed(payOf("2.0.0"), "export default 1;"))).toMatchObject(untrue);
  });
});

/** The answer of a call that reads from the network and then fails. */
async function failing(options: CallOptions = {}): Promise<Answer> {
  const kernel = await createKernel({
    policy: granting({ kind: "net.read", hosts: ["a.example"] }),
    brokers: [fakeNet()],
  });
  const signal = new AbortController();
  kernel.registerTrusted(
    toolOf(
      async (_: never, { fetch }: { fetch(url: string): Promise<unknown> }) => {
        await fetch("https://a.example/");
        signal.abort();
        throw new Error("stopped");
      },
      {
        name: "reads",
        determinism: "external",
        effects: ["net.read"],
        capabilities: [{ kind: "net.read", hosts: ["*"] }],
      },
    ),
  );
  return answerOf(kernel, "reads", {}, { ...options, signal: signal.signal });
}

/** A chain of the edge's own making. */
function chained(events: readonly JsonObject[]): JsonObject[] {
  let prev = events[0]!["prev"]!;
  return events.map(({ hash: _, ...event }) => {
    const body = { ...event, prev };
    prev = hashJson(body);
    return { ...body, hash: prev };
  });
}

const changedEnd = (events: readonly JsonObject[], payload: JsonObject, more: JsonObject = {}): JsonObject[] =>
  events.map((event) =>
    event["type"] === "tool.failed"
      ? { ...event, ...more, payload: { ...(event["payload"] as JsonObject), ...payload } }
      : event,
  );

describe("the end of a cancelled call", () => {
  /** The client leaves after it has heard the request; `log` is what the edge then shows. */
  async function cancelled(log: (events: JsonObject[]) => readonly JsonObject[]) {
    const answer = await failing();
    const events = [...log(answer.events)];
    const heard = answer.events.slice(0, -1);
    const leaving = new AbortController();
    const client = clientOf(answer, {
      answerCall: (signal) => streamOf(heard, undefined, signal),
      log: (from) => events.filter(({ seq }) => Number(seq) >= from),
    });
    const onEvent = ({ type }: AuditEvent): void => {
      if (type === "capability.used") leaving.abort();
    };
    return client.call("reads", {}, { signal: leaving.signal, onEvent }).catch((error: unknown) => error);
  }

  it("is that of the log", async () => {
    expect(await cancelled((events) => events)).toMatchObject({
      ok: false,
      error: { code: "CANCELLED" },
      effects: ["net.read"],
      meta: { attempts: 1, networkRequests: 1, networkBytes: 10 },
    });
  });

  it.for<[string, (events: JsonObject[]) => readonly JsonObject[]]>([
    ["a changed event", (events) => changedEnd(events, { code: "TIMEOUT" })],
    ["a digest of nothing", (events) => changedEnd(events, {}, { hash: `blake3:${"1".repeat(64)}` })],
    ["an event left out", (events) => chained(changedEnd(events, {}, { seq: 99 }))],
    ["another chain", (events) => chained([{ ...events[0]!, time: "2026-01-01T00:00:00.000Z" }, ...events.slice(1)])],
    ["an end that forgets an effect", (events) => chained(changedEnd(events, { effects: [] }))],
    ["an end of a call that never ran", (events) => chained(changedEnd(events, {}, { type: "tool.blocked" }))],
  ])("is refused with %s", async ([, log]) => {
    expect(await cancelled(log)).toMatchObject(untrue);
  });
});

describe("the events of an answer", () => {
  it.for<[string, (answer: Answer) => Answer, CallOptions?]>([
    ["none", (answer) => ({ ...answer, events: [] })],
    ["another session", (answer) => answer, { sessionId: "mine" }],
    ["another correlation", (answer) => answer, { correlationId: "mine" }],
    ["another trace", (answer) => answer, { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` }],
    [
      "an unlisted tool and nothing else true",
      (answer) => ({ ...answer, events: [], result: { ...answer.result, tool: "reads@9.0.0", effects: [] } }),
    ],
    [
      "effects that a request contradicts",
      (answer) => ({
        ...answer,
        events: chained(changedEnd(answer.events, { effects: [] })),
        result: { ...answer.result, effects: [] },
      }),
    ],
  ])("are those of the request: %s", async ([, change, options]) => {
    const client = clientOf(change(await failing()));
    await expect(client.call("reads", {}, options)).rejects.toMatchObject(untrue);
  });

  it("can be those of the request", async () => {
    const options = { sessionId: "mine", correlationId: "c", traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01` };
    const client = clientOf(await failing(options));
    expect(await client.call("reads", {}, options)).toMatchObject({ ok: false, effects: ["net.read"] });
  });

  it.each(["AUDIT_UNAVAILABLE", "SUSPENDED"])("cannot show an end with %s", async (code) => {
    const { events, result, ...rest } = await failing();
    const error = { ...(result["error"] as JsonObject), code };
    const client = clientOf({ ...rest, events: events.slice(0, -1), result: { ...result, error } });
    await expect(client.call("reads", {})).rejects.toMatchObject({ code: "EDGE_OUTCOME_UNKNOWN" });
  });
});
