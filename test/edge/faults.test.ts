import { createKernel, type PolicyDocument } from "@keyhole/kernel";
import { BodyReader } from "@keyhole/kernel/foreign";
import { contentStore } from "@keyhole/worker-host/content";
import { memoryStore } from "@keyhole/worker-host/brokers/files";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ApprovalDesk } from "@keyhole/worker-host/approval-desk";
import { checkOf } from "../../packages/edge/src/app/check.ts";
import { readBody } from "../../packages/edge/src/app/body.ts";
import { approvalPath } from "../../packages/edge/src/app/page-path.ts";
import { createGateway, identityHeader } from "../../packages/edge/src/app/gateway.ts";
import { problemOf } from "../../packages/edge/src/app/problem.ts";
import { createRoutes, type Routes } from "../../packages/edge/src/app/routes.ts";
import { sqlResources } from "../../packages/edge/src/object/resources.ts";
import { writeProbe } from "../../packages/edge/src/object/write-probe.ts";
import { gatewayWorker } from "../../packages/edge/src/gateway-worker.ts";
import { echo } from "../support/kernel.ts";
import { registerAny } from "../support/registered.ts";

const sender = { bodies: new BodyReader(), subject: "a" };
const policy: PolicyDocument = { version: "1", posture: "standard" };

/** As workerd throws it at the gateway when the storage of a Durable Object failed; each was seen, or is in Cloudflare's list of errors. */
const storageFaults = [
  "database or disk is full: SQLITE_FULL",
  "disk I/O error: SQLITE_IOERR",
  "attempt to write a readonly database: SQLITE_READONLY",
  "unable to open database file: SQLITE_CANTOPEN",
  "database disk image is malformed: SQLITE_CORRUPT",
  "Internal error in Durable Object storage write caused object to be reset.",
  "Internal error while starting up Durable Object storage caused object to be reset.",
];
const thrown = (message: string): Error =>
  Object.assign(new Error(message), { remote: true, durableObjectReset: true });

/** SHA-256 of `token`. */
const digest = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";
const tokens = JSON.stringify({ [digest]: { subject: "a", scopes: ["tools:call"] } });

const failing = (error: Error) => async (): Promise<never> => {
  throw error;
};

async function answerOf(error: Error): Promise<readonly [number, Record<string, unknown>]> {
  const gateway = createGateway<object>(() => ({ tokens, origins: "" }), { forward: failing(error) });
  const headers = { authorization: "Bearer token" };
  const response = await gateway.fetch(new Request("https://edge.example/v1/tools", { headers }), {});
  return [response.status, await response.json()];
}

const causesIn = (text: string): unknown => (JSON.parse(text) as { readonly causes?: unknown }).causes;

async function causesOf(error: Error): Promise<unknown> {
  const env = { KEYHOLE_TOKENS: tokens, KERNEL: { getByName: () => ({ fetch: failing(error) }) } };
  const request = new Request("https://edge.example/healthz");
  const response = await gatewayWorker.fetch!(request as never, env as never, {} as never);
  return causesIn(await response.text());
}

describe("a kernel's object whose storage failed", () => {
  it.each(storageFaults)("is answered with AUDIT_UNAVAILABLE: %s", async (message) => {
    const [status, problem] = await answerOf(thrown(message));
    expect([status, problem["code"], problem["retryable"]]).toEqual([503, "AUDIT_UNAVAILABLE", false]);
    expect(JSON.stringify(problem)).not.toContain(message.slice(0, 8));
  });

  it.each(storageFaults)("is not ready, with that code: %s", async (message) => {
    expect(await causesOf(thrown(message))).toEqual([
      { code: "AUDIT_UNAVAILABLE", detail: "The audit log cannot be written." },
    ]);
  });

  it("is told from a tool's text in an error", async () => {
    const error = new Error("the tool said SQLITE_FULL");
    expect((await answerOf(error))[1]).toMatchObject({ status: 503, code: "KERNEL_UNAVAILABLE" });
  });
});

it("a request that needs the log is answered with AUDIT_UNAVAILABLE where it cannot be written", async () => {
  let full = false;
  const sink = {
    open: () => ({ last: undefined, cutBytes: 0, damage: null }),
    append() {
      if (full) throw new Error("no space on /var/internal");
    },
    read: () => [],
  };
  const kernel = await createKernel({ policy, sink });
  registerAny(kernel, echo);
  const routes: Routes = createRoutes({
    kernel,
    desk: new ApprovalDesk(),
    policy,
    content: contentStore(memoryStore()),
  });
  full = true;
  const identity = encodeURIComponent(JSON.stringify({ subject: "a", scopes: ["tools:call"], tenant: "default" }));
  const headers = { [identityHeader]: identity };
  const path = "https://kernel/v1/tools/echo/health";
  const response = await routes.fetch(new Request(path, { method: "POST", headers }));
  const text = await response.text();
  expect([response.status, JSON.parse(text)]).toMatchObject([503, { code: "AUDIT_UNAVAILABLE" }]);
  expect(text).not.toContain("/var/internal");
});

it("the gateway wakes no kernel for an address that no kernel has made, and tells no stranger the name of a tenant", async () => {
  const tokens = JSON.stringify({ ["0".repeat(64)]: { subject: "a", scopes: [], tenant: "acme" } });
  const woken: string[] = [];
  const gateway = createGateway<object>(() => ({ tokens, origins: undefined }), {
    forward: async (_, { tenant }) => new Response(woken.push(tenant).toString()),
  });
  const answerTo = async (path: string) => {
    const response = await gateway.request(path, {}, {});
    return { status: response.status, headers: [...response.headers], text: await response.text() };
  };
  const own = approvalPath("acme", tokens)!;
  const none = await answerTo("/approvals/nobody/1");
  expect(none.status).toBe(404);
  const otherTokens = tokens.replace("0".repeat(64), "1".repeat(64));
  const others = [approvalPath("acme", otherTokens)!, approvalPath("nobody", tokens)!, own.replace("acme", "nobody")];
  for (const path of ["/approvals/acme/", "/approvals/acme/x/", `${own.slice(0, -2)}/`, `${own}x/`, ...others])
    expect(await answerTo(`${path}1`), path).toEqual(none);
  expect(woken).toEqual([]);
  expect(await answerTo(`${own}1`)).toMatchObject({ status: 200 });
  expect(woken).toEqual(["acme"]);
});

it("an edge without approval pages tells no stranger the name of a tenant", async () => {
  const kernel = await createKernel({ policy });
  const routes = createRoutes({ kernel, desk: new ApprovalDesk(), policy, content: contentStore(memoryStore()) });
  const tokens = JSON.stringify({ ["0".repeat(64)]: { subject: "a", scopes: [], tenant: "acme" } });
  const gateway = createGateway<object>(() => ({ tokens, origins: undefined }), {
    forward: async (request) => routes.fetch(request),
  });
  const [known, unknown] = await Promise.all(
    ["acme", "nobody"].map(async (tenant) => {
      const answer = await gateway.request(`${approvalPath(tenant, tokens)}1`, {}, {});
      return [answer.status, await answer.json()];
    }),
  );
  expect(known).toMatchObject([404, { code: "NOT_FOUND" }]);
  expect(known).toEqual(unknown);
});

describe("the probe of a storage", () => {
  afterEach(() => vi.useRealTimers());

  it("finds a full one, asks at most every 10 s, and leaves nothing", async () => {
    vi.useFakeTimers({ now: 0 });
    const statements: string[] = [];
    let full = false;
    const storage = {
      sql: { exec: (statement: string) => void statements.push(statement.split(" ", 1)[0]!) },
      sync: async () => {
        statements.push("sync");
        if (full) throw new Error("database or disk is full: SQLITE_FULL");
      },
    };
    const probe = writeProbe(storage as never);
    await Promise.all([probe(), probe()]);
    expect(statements).toEqual(["CREATE", "INSERT", "sync", "DELETE", "sync"]);
    full = true;
    vi.setSystemTime(9_999);
    await probe();
    vi.setSystemTime(10_000);
    await expect(probe()).rejects.toThrow("SQLITE_FULL");
    await expect(probe()).rejects.toThrow("SQLITE_FULL");
    full = false;
    vi.setSystemTime(20_000);
    await probe();
  });

  it("decides whether a kernel is ready", async () => {
    const kernel = await createKernel({ policy });
    const content = contentStore(memoryStore());
    const asked = async (probe: () => Promise<void>): Promise<unknown> => {
      const routes = createRoutes({ kernel, desk: new ApprovalDesk(), policy, content, probe });
      const response = await routes.fetch(new Request("https://kernel/healthz"));
      return [response.status, causesIn(await response.text())];
    };
    expect(await asked(async () => {})).toEqual([200, undefined]);
    const detail = "The audit log cannot be written.";
    expect(await asked(failing(new Error("full")))).toEqual([503, [{ code: "AUDIT_UNAVAILABLE", detail }]]);
  });
});

describe("a body that comes slowly", () => {
  afterEach(() => vi.useRealTimers());

  const takesAll = checkOf({});
  /** Gives one byte per interval, and then nothing. */
  function dripping(everyMs: number, bytes: number): { request: Request; cancelled: () => boolean } {
    let isCancelled = false;
    let given = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) =>
          new Promise((resolve) => {
            if (given++ >= bytes) return;
            setTimeout(() => {
              if (!isCancelled) controller.enqueue(new Uint8Array([0x20]));
              resolve();
            }, everyMs);
          }),
        cancel: () => void (isCancelled = true),
      },
      { highWaterMark: 0 },
    );
    const headers = { "content-type": "application/json" };
    const init: RequestInit & { readonly duplex: "half" } = { method: "POST", headers, body, duplex: "half" };
    return { request: new Request("https://edge.example/", init), cancelled: () => isCancelled };
  }

  it.each([
    ["is silent for 10 s", 1, 1, 10_001, "The body was silent for 10 s."],
    ["takes more than 30 s", 9_000, 100, 30_000, "The body took more than 30 s."],
  ])("is refused with 408 where it %s", async (_, everyMs, bytes, afterMs, detail) => {
    vi.useFakeTimers();
    const { request, cancelled } = dripping(everyMs, bytes);
    let end: unknown;
    const ended = readBody(request, takesAll, sender).then(
      () => (end = "read"),
      (error: unknown) => (end = error),
    );
    await vi.advanceTimersByTimeAsync(afterMs - 1);
    expect(end).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    const response = problemOf(end);
    expect([response.status, await response.json()]).toMatchObject([408, { code: "BODY_TIMEOUT", detail }]);
    expect(cancelled()).toBe(true);
    expect(vi.getTimerCount()).toBeLessThanOrEqual(1); // The sender's own.
  });
});

it("a body that is too large is told the limit", async () => {
  const headers = { "content-type": "application/json" };
  const body = "x".repeat((8 << 20) + 4097);
  const refused = readBody(
    new Request("https://edge.example/", { method: "POST", headers, body }),
    checkOf({}),
    sender,
  );
  const response = problemOf(await refused.catch((error: unknown) => error));
  expect([response.status, await response.json()]).toMatchObject([
    413,
    { code: "BODY_TOO_LARGE", detail: "The body has more bytes than the limit of 8392704." },
  ]);
});

it("an object knows what its storage still takes", () => {
  expect(sqlResources({ sql: { databaseSize: 9_999_999_990 } } as never).freeSpaceBytes?.()).toBe(10);
});
