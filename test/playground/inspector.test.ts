import { request } from "node:http";
import { createKernel, defineTool, type Kernel } from "@keyhole/kernel";
import { exposeInspector, type Inspector } from "@keyhole/worker-host/node";
import * as indexedDb from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openEdgeClient } from "../../packages/playground/src/client/edge-client.ts";
import { Browser } from "./session-parts.ts";

const origin = "http://127.0.0.1:8700";
const policy = { version: "1", posture: "standard" };
const echo = defineTool({
  name: "echo",
  version: "1.0.0",
  description: "Echoes.",
  input: { type: "object", properties: { fail: { type: "boolean" } } },
  output: { kind: "json" },
  execute(input) {
    if (JSON.stringify(input).includes("fail")) throw new Error("It broke.");
    return { said: true };
  },
});

const open: Inspector[] = [];

async function exposed(): Promise<{ readonly kernel: Kernel; readonly inspector: Inspector }> {
  const kernel = await createKernel({ policy });
  expect(kernel.registerTrusted(echo).ok).toBe(true);
  const inspector = await exposeInspector(kernel, { origins: [origin], policy: () => policy });
  open.push(inspector);
  return { kernel, inspector };
}

afterEach(() => Promise.all(open.splice(0).map((each) => each.close())));

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** As any program can ask, with any Host and Origin. */
function ask({ address, token }: Inspector, { method = "GET", path = "/v1/tools", headers = {} }: Asked) {
  return new Promise<{ readonly status: number; readonly allowed: string | undefined; readonly text: string }>(
    (resolve, reject) => {
      const all = { authorization: `Bearer ${token}`, ...headers };
      request(`${address}${path}`, { method, headers: all }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => (text += part));
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, allowed: response.headers["access-control-allow-origin"], text }),
        );
      })
        .on("error", reject)
        .end();
    },
  );
}

describe("an inspector of a kernel", () => {
  it.each<[string, Asked, number]>([
    ["no token", { headers: { authorization: "" } }, 401],
    ["another token", { headers: { authorization: `Bearer ${"A".repeat(43)}` } }, 401],
    ["another origin with the token", { headers: { origin: "http://evil.example" } }, 403],
    ["an opaque origin", { headers: { origin: "null" } }, 403],
    ["a preflight of another origin", { method: "OPTIONS", headers: { origin: "http://127.0.0.1:8701" } }, 403],
    ["a name that was led to this machine", { headers: { host: "evil.example" } }, 403],
    ["a change", { method: "POST", path: "/v1/tools/echo/calls" }, 405],
    ["another path", { path: "/v1/../v1/secrets" }, 404],
    ["a place in the log that is none", { path: "/v1/audit?from=-1" }, 400],
  ])("refuses %s", async (_, asked, status) => {
    const { inspector } = await exposed();
    const answer = await ask(inspector, asked);
    expect(answer.status).toBe(status);
    expect(answer.text).not.toContain("echo@1.0.0");
    if (status === 403) expect(answer.allowed).toBeUndefined();
  });

  it("answers its own page, and takes no origin that is none", async () => {
    const { kernel, inspector } = await exposed();
    const answer = await ask(inspector, { headers: { origin } });
    expect(answer).toMatchObject({ status: 200, allowed: origin });
    expect(inspector.link).toContain(`${origin}/#edge=`);
    for (const wrong of ["*", "http://127.0.0.1:8700/", "null"])
      await expect(exposeInspector(kernel, { origins: [wrong] })).rejects.toThrow("expected one such as");
    await expect(exposeInspector(kernel, { origins: [] })).rejects.toThrow("`origins` is empty");
  });

  it("keeps nothing for readers that wait or never read, and lets eight wait", async () => {
    const { kernel, inspector } = await exposed();
    const path = "/v1/audit?from=first";
    const waiting = Array.from({ length: 12 }, () => ask(inspector, { path }));
    let refused = 0;
    for (const each of waiting) void each.then(({ status }) => (refused += Number(status === 429)));
    await expect.poll(() => refused).toBe(4);
    await kernel.call("echo", {});
    const statuses = (await Promise.all(waiting)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(8);
  });
});

describe("a page that watches a kernel", () => {
  beforeEach(() => {
    for (const [name, value] of Object.entries(indexedDb)) if (name.startsWith("IDB")) vi.stubGlobal(name, value);
    vi.stubGlobal("indexedDB", new indexedDb.IDBFactory());
  });
  afterEach(() => vi.unstubAllGlobals());

  it("has each call of the program in its session, with its end, and calls nothing itself", async () => {
    const { kernel, inspector } = await exposed();
    const client = await openEdgeClient(inspector);
    expect(client).toMatchObject({ isWatched: true, address: inspector.address });
    expect(await client.governance!.read()).toMatchObject({ policy, mode: "NORMAL" });
    expect(client.governance!.setMode).toBeUndefined();
    await expect(client.call({} as never)).rejects.toThrow("This kernel is only watched.");

    const { store, calls } = new Browser().tab("a");
    const stop = calls.watch(client);
    const done = await kernel.call("echo", {}, { caller: "agent" });
    await kernel.call("echo", { fail: true });
    await kernel.call("nothing", {});
    await kernel.call("<b>No Name\u202e", {});
    const ended = () => store.state().heads.filter(({ state }) => state !== "running");
    await expect.poll(() => ended().length).toBe(4);
    stop();
    const heads = store.state().heads.toSorted((a, b) => a.startedAt - b.startedAt || a.tool.localeCompare(b.tool));
    expect(heads.map(({ tool, state, code }) => [tool, state, code])).toEqual(
      expect.arrayContaining([
        ["echo@1.0.0", "completed", ""],
        ["echo@1.0.0", "failed", "TOOL_ERROR"],
        ["nothing", "failed", "TOOL_NOT_FOUND"],
        ["<b>No Name\u202e", "failed", "TOOL_NOT_FOUND"],
      ]),
    );
    const head = heads.find(({ state }) => state === "completed")!;
    expect(head).toMatchObject({ hash: done.ok && done.hash, what: "Called by agent", callId: done.callId });
    const run = await store.read(head.id);
    expect(run).toMatchObject({ phase: "done", unkept: [expect.stringContaining("digests")] });
    expect(run!.events.map(({ type }) => type)).toContain("policy.decided");
  });
});
