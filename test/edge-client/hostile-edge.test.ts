import { type AuditEvent, type CallResult, createKernel, type JsonObject } from "@keyhole/kernel";
import { connectEdge, EdgeFault, type EdgeOptions } from "@keyhole/worker-host/edge";
import { beforeAll, describe, expect, it } from "vitest";
import { echo } from "../support/kernel.ts";

/** A call of a real kernel, as an honest edge sends it. */
interface Answer {
  readonly summary: JsonObject;
  readonly events: JsonObject[];
  readonly result: JsonObject;
}

let honest: Answer;
beforeAll(async () => {
  const kernel = await createKernel({ policy: { version: "1", posture: "standard" } });
  kernel.registerTrusted(echo);
  const events: AuditEvent[] = [];
  const result: CallResult = await kernel.call(
    "echo",
    { message: "a" },
    { onEvent: (event) => void events.push(event) },
  );
  honest = JSON.parse(JSON.stringify({ summary: kernel.list()[0], events, result })) as Answer;
});

const block = (event: string, data: unknown): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
const textOf = ({ events, result }: Answer): string =>
  events.map((event) => block("audit", event)).join("") + block("result", result);
const stream = (body: BodyInit): Response => new Response(body, { headers: { "content-type": "text/event-stream" } });

const failed = (code: string): TypeError =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });

interface Asked {
  readonly path: string;
  readonly token: string;
  readonly redirect: string | undefined;
}

/** A client of an edge that lists the tool, and answers a call like this. */
function clientOf(answerCall: (signal: AbortSignal) => Response | Promise<Response>, options: EdgeOptions = {}) {
  const asked: Asked[] = [];
  const client = connectEdge("https://edge.example", "calls", {
    fetch: async (url, init) => {
      const path = url.slice("https://edge.example".length);
      asked.push({ path, token: new Headers(init.headers).get("authorization") ?? "", redirect: init.redirect });
      if (path === "/v1/tools/echo") return Response.json({ versions: [honest.summary] });
      if (path.startsWith("/v1/approvals")) return Response.json({ approvals: [], standing: [] });
      return answerCall(init.signal!);
    },
    ...options,
  });
  const call = () => client.call("echo", { message: "a" }).catch((error: unknown) => error);
  return { client, call, asked };
}

function changed(change: (answer: Answer) => void): Answer {
  const copy = structuredClone(honest);
  change(copy);
  return copy;
}

const at = (object: JsonObject, ...path: readonly string[]): JsonObject =>
  path.reduce((each, name) => each[name] as JsonObject, object);

describe("an answer", () => {
  it("that fits is given on", async () => {
    const { call } = clientOf(() => stream(textOf(honest)));
    const meta = { ...at(honest.result, "meta"), durationMs: expect.any(Number) };
    expect(await call()).toEqual({ ...honest.result, meta });
  });

  it.for<[string, (answer: Answer) => void]>([
    ["with other data", ({ result }) => Object.assign(result, { data: { message: "b" } })],
    ["with another hash", ({ result }) => Object.assign(result, { hash: `blake3:${"0".repeat(64)}` })],
    ["with the hash of no algorithm", ({ result }) => Object.assign(result, { hash: "none:0" })],
    ["of another tool", ({ result }) => Object.assign(result, { tool: "ecko@1.0.0" })],
    ["of another call", ({ result }) => Object.assign(result, { callId: "other" })],
    [
      "with a reference that nobody asked for",
      ({ result }) => Object.assign(result, { data: null, reference: { digest: result["hash"], byteLength: 1 } }),
    ],
    ["without a proof", ({ result }) => Object.assign(result, { proof: {} })],
    ["with a changed proof", ({ result }) => Object.assign(at(result, "proof"), { decision: "deny" })],
    ["with the proof of another input", ({ result }) => Object.assign(at(result, "proof"), { inputHash: "blake3:0" })],
    ["with a changed event", ({ events }) => Object.assign(at(events[0]!, "payload"), { caller: "eve" })],
    ["whose events lack the end", ({ events }) => void events.pop()],
    [
      "whose events are of another call",
      ({ events }) => {
        for (const event of events) Object.assign(event, { callId: "other" });
      },
    ],
    [
      "that turns a success into a failure",
      ({ result }) =>
        Object.assign(result, {
          ok: false,
          error: { code: "TOOL_ERROR", message: "", hint: "", operatorHint: "", retryable: false, details: null },
        }),
    ],
  ])("%s is refused", async ([, change]) => {
    const { call } = clientOf(() => stream(textOf(changed(change))));
    expect(await call()).toMatchObject({ name: "EdgeFault", code: "EDGE_UNTRUE" });
  });

  it("for another input than the one that was sent is refused", async () => {
    const { client } = clientOf(() => stream(textOf(honest)));
    const refused = client.call("echo", { message: "another" });
    await expect(refused).rejects.toMatchObject({ code: "EDGE_UNTRUE" });
  });

  it.for<[string, () => Response, string]>([
    ["of another content type", () => new Response(textOf(honest)), "EDGE_NOT_UNDERSTOOD"],
    ["of JSON in place of events", () => Response.json(honest.result), "EDGE_NOT_UNDERSTOOD"],
    ["of events that are no JSON", () => stream("event: result\ndata: {\n\n"), "EDGE_NOT_UNDERSTOOD"],
    ["that is no result", () => stream(block("result", { ok: "yes" })), "EDGE_NOT_UNDERSTOOD"],
    ["that ends without a result", () => stream(": still here\n\n"), "EDGE_OUTCOME_UNKNOWN"],
    ["with too many events", () => stream(block("other", {}).repeat(10_001)), "EDGE_TOO_MUCH"],
    ["with a page of HTML and a status", () => new Response("<html>", { status: 502 }), "EDGE_NOT_UNDERSTOOD"],
    [
      "that redirects",
      () => new Response(null, { status: 307, headers: { location: "https://eve.example" } }),
      "EDGE_NOT_UNDERSTOOD",
    ],
    ["to an unknown token", () => Response.json({}, { status: 401 }), "EDGE_UNAUTHENTICATED"],
    ["with a problem", () => Response.json({ code: "FORBIDDEN", detail: "No." }, { status: 403 }), "EDGE_REFUSED"],
  ])("%s is refused", async ([, answer, code]) => {
    const { call, asked } = clientOf(answer);
    expect(await call()).toMatchObject({ name: "EdgeFault", code });
    expect(new Set(asked.map(({ redirect }) => redirect))).toEqual(new Set(["manual"]));
  });
});

describe("an edge", () => {
  const never = () => new Promise<never>(() => {});

  it("that never answers is given up", async () => {
    expect(await clientOf(never, { silenceMs: 5 }).call()).toMatchObject({ code: "EDGE_SILENT" });
    const silent = connectEdge("https://edge.example", "t", { fetch: never, silenceMs: 5 });
    await expect(silent.list()).rejects.toMatchObject({ code: "EDGE_SILENT" });
  });

  it("that stops in the middle is given up, and its answer let go", async () => {
    let left = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(": still here\n\n")),
      cancel: () => void (left = true),
    });
    expect(await clientOf(() => stream(body), { silenceMs: 5 }).call()).toMatchObject({ code: "EDGE_SILENT" });
    expect(left).toBe(true);
  });

  it("that never stops is given up after the time of one call", async () => {
    const endless = () =>
      new ReadableStream<Uint8Array>({
        async pull(controller) {
          await new Promise((resolve) => setTimeout(resolve, 0));
          controller.enqueue(new TextEncoder().encode(": still here\n\n"));
        },
      });
    expect(await clientOf(() => stream(endless()), { callMs: 20 }).call()).toMatchObject({
      code: "EDGE_OUTCOME_UNKNOWN",
    });
  });

  it("that sends an answer without end is read no further than the bound", async () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1 << 20;
        controller.enqueue(new Uint8Array(1 << 20).fill(32));
      },
    });
    const client = connectEdge("https://edge.example", "t", { fetch: async () => new Response(body) });
    await expect(client.list()).rejects.toMatchObject({ code: "EDGE_TOO_MUCH" });
    expect(sent).toBeLessThan(32 << 20);
  });

  const broken = (sent: string): Response =>
    stream(
      new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode(sent)),
        pull: (controller) => controller.error(new TypeError("terminated")),
      }),
    );
  it.each<[string, () => Response | Promise<Response>, string]>([
    ["was never there", () => Promise.reject(failed("ECONNREFUSED")), "EDGE_UNREACHABLE"],
    ["broke before the answer", () => Promise.reject(failed("ECONNRESET")), "EDGE_OUTCOME_UNKNOWN"],
    ["broke, as a browser says it", () => Promise.reject(new TypeError("fetch failed")), "EDGE_OUTCOME_UNKNOWN"],
    ["broke in the answer", () => broken(""), "EDGE_OUTCOME_UNKNOWN"],
    [
      "broke behind the last event",
      () => broken(honest.events.map((event) => block("audit", event)).join("")),
      "EDGE_OUTCOME_UNKNOWN",
    ],
  ])("whose connection %s is told of", async (_, answer, code) => {
    expect(await clientOf(answer).call()).toMatchObject({ code });
  });

  it("whose client is closed gives no answer", async () => {
    const { client, call } = clientOf(never);
    const calling = call();
    await client.close();
    expect(await calling).toMatchObject({ code: "EDGE_OUTCOME_UNKNOWN" });
  });
});

describe("a token", () => {
  it("of approvals answers questions, and makes no call", async () => {
    const { client, call, asked } = clientOf(() => stream(textOf(honest)), { approvalsToken: "people" });
    await call();
    await client.questions.list();
    await client.questions.answer("a", { answer: "deny", approver: "x" });
    await client.approvals.list();
    for (const { path, token } of asked)
      expect(token).toBe(path.startsWith("/v1/approvals") ? "Bearer people" : "Bearer calls");
  });

  it.each(["", "two words", "line\r\nbreak", "é", "a".repeat(513)])("is refused before it is sent: %j", (token) => {
    expect(() => connectEdge("https://edge.example", token)).toThrow(EdgeFault);
  });

  it.each(["http://edge.example", "ftp://edge.example", "data:,x", "", "file:///etc"])(
    "is not sent to %j",
    (address) => {
      expect(() => connectEdge(address, "t")).toThrow(EdgeFault);
    },
  );
});

describe("a member that HTTP does not have", () => {
  it("is refused with its reason", async () => {
    const { client } = clientOf(() => stream(""));
    await expect(client.setPolicy({})).rejects.toMatchObject({ code: "EDGE_UNSUPPORTED" });
    await expect(client.health()).rejects.toMatchObject({ code: "EDGE_UNSUPPORTED" });
    expect(() => client.audit.subscribe(() => {})).toThrow(EdgeFault);
  });
});
