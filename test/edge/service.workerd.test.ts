import { abortAllDurableObjects, createExecutionContext, runInDurableObject } from "cloudflare:test";
import { type Env, gatewayWorker, kernelObject } from "@keyhole/edge";
import { type AuditEvent, type CallResult, verifyChain } from "@keyhole/kernel";
import { echo } from "@keyhole/worker-host/tools";
import { beforeAll, describe, expect, it } from "vitest";
import { bindings } from "./bindings.ts";
import { type TokenName, tokenOf, tokenTable } from "./service.ts";

let env: Env;
beforeAll(async () => {
  env = { ...bindings, KEYHOLE_TOKENS: await tokenTable() };
});

async function send(path: string, init: RequestInit = {}, token: TokenName = "all"): Promise<Response> {
  const headers = { authorization: `Bearer ${tokenOf(token)}`, ...(init.headers as Record<string, string>) };
  const request = new Request(`https://edge.example${path}`, { ...init, headers }) as Request<
    unknown,
    IncomingRequestCfProperties
  >;
  return gatewayWorker.fetch!(request, env, createExecutionContext());
}

async function call(tool: string, input: unknown, token: TokenName = "all"): Promise<CallResult> {
  const init = { method: "POST", body: JSON.stringify({ input }), headers: { "content-type": "application/json" } };
  return (await send(`/v1/tools/${tool}/calls`, init, token)).json();
}

const log = async (token: TokenName = "all"): Promise<AuditEvent[]> => {
  const { events } = await (await send("/v1/audit?limit=1000", {}, token)).json<{ events: AuditEvent[] }>();
  return events;
};

describe("the deployed Worker", () => {
  it("offers the built-in tools, and runs them in dynamic Workers", async () => {
    const { tools } = await (await send("/v1/tools")).json<{ tools: { id: string }[] }>();
    expect(tools).toHaveLength(12);
    expect(await call("echo", { message: "hello" })).toMatchObject({ ok: true, data: { message: "hello" } });
  });

  it("grants files below workspace, and no host", async () => {
    expect(await call("list_directory", { path: "workspace" })).not.toHaveProperty("code", "CAPABILITY_DENIED");
    expect(await call("list_directory", { path: "private" })).toMatchObject({ code: "CAPABILITY_DENIED" });
    expect(await call("http_fetch", { url: "http://example.com/" })).toMatchObject({ code: "CAPABILITY_DENIED" });
  });

  it("goes on with its log after its object ended", async () => {
    await call("echo", { message: "before" });
    const before = await log();
    await abortAllDurableObjects();
    expect(await call("echo", { message: "after" })).toMatchObject({ ok: true });
    const after = await log();
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.length).toBeGreaterThan(before.length);
    expect(verifyChain(after)).toMatchObject({ ok: true });
  });

  it("keeps the log of one tenant from another", async () => {
    await call("echo", { message: "mine" });
    const theirs = await log("neighbour");
    expect(theirs.filter(({ type }) => type === "call.invoked")).toEqual([]);
    await call("echo", { message: "theirs" }, "neighbour");
    expect((await log("neighbour")).filter(({ type }) => type === "call.invoked")).toHaveLength(1);
  });

  it("keeps the files of one tenant from another", async () => {
    await bindings.FILES.put("default/workspace/mine.txt", "of the tenant default");
    const folders = ["workspace", "workspace/../default/workspace", "default/workspace"];
    for (const path of folders) {
      const listed = await call("list_directory", { path }, "neighbour");
      expect(JSON.stringify(listed)).not.toContain("mine.txt");
    }
    const read = await call("read_file", { path: "workspace/mine.txt" }, "neighbour");
    expect(read).toMatchObject({ result: { ok: false } });
    const own = await call("read_file", { path: "workspace/mine.txt" });
    expect(own).toMatchObject({ ok: true, data: { content: "of the tenant default" } });
  });

  it.each([
    ["a policy that is not JSON", { KEYHOLE_POLICY: "{" }, "KEYHOLE_POLICY is not JSON."],
    ["a policy that is none", { KEYHOLE_POLICY: '{"version":"2"}' }, "INVALID_POLICY at"],
    ["no place for tools", { LOADER: undefined }, "The bindings SANDBOX and LOADER are missing"],
  ])("says that it is misconfigured: %s", async (_, wrong, detail) => {
    await runInDurableObject(bindings.KERNEL.getByName(`misconfigured ${detail}`), async (_, context) => {
      const Wrong = kernelObject({ tools: [echo], policy: { version: "1", posture: "standard" } });
      const object = new Wrong(context, { ...env, ...wrong } as Env);
      const response = await object.fetch(new Request("https://edge.example/v1/tools"));
      expect(response.status).toBe(500);
      const problem = await response.json<{ detail: string }>();
      expect(problem).toMatchObject({ code: "MISCONFIGURED" });
      expect(problem.detail).toContain(detail);
    });
  });

  it("takes no tool whose hash does not fit", async () => {
    await runInDurableObject(bindings.KERNEL.getByName("forged"), async (_, context) => {
      const Wrong = kernelObject({
        tools: [{ ...echo, code: `${echo.code};` }],
        policy: { version: "1", posture: "standard" },
      });
      const response = await new Wrong(context, env).fetch(new Request("https://edge.example/v1/tools"));
      expect((await response.json<{ detail: string }>()).detail).toContain("PACKAGE_HASH_MISMATCH");
    });
  });
});
