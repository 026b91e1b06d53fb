import {
  blake3Hash,
  type ApprovalAnswer,
  type Approver,
  type CallResult,
  createKernel,
  defineTool,
  type Kernel,
  manifestOf,
  packageHash,
  type Preview,
  type ToolPackage,
} from "@keyhole/kernel";
import { connectKernel, type ConnectOptions, exposeKernel, type KernelClient } from "@keyhole/worker-host/browser";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { echo } from "../support/kernel.ts";
import { leaf, openCalling, outer, toolWith } from "../support/nested.ts";
import { guarded, packageOf, policy, suspendingKernel } from "../support/suspension.ts";
import { testEngine } from "../wasm/engine.ts";

const closed: (() => void)[] = [];
afterEach(() => {
  for (const close of closed.splice(0)) close();
});

/** A kernel as a page has it: at the other end of a message port. */
function remoteOf(kernel: Kernel, options: ConnectOptions = {}): KernelClient {
  const { port1, port2 } = new MessageChannel();
  closed.push(
    () => port1.close(),
    () => port2.close(),
  );
  exposeKernel(kernel, port1);
  return connectKernel(port2, options);
}

const yes: Approver = async () => ({ answer: "allow", scope: "once", approver: "ada" });
const host = async () => interpreterHost({ engine: await testEngine() });

describe("a package that crosses", () => {
  const bytes = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  const module = packageOf("modular", "return 1;", {});
  const definition = { ...echo.definition, name: "binary" };
  const manifest = manifestOf(defineTool({ ...definition, execute: () => null }), "wasm");
  const binary: ToolPackage = { manifest, code: bytes, hash: packageHash(manifest, bytes, blake3Hash) ?? "" };

  it.each<[string, unknown]>([
    ["of a module", module],
    ["of bytes", binary],
    ["with another hash", { ...module, hash: binary.hash }],
    ["with code of another kind", { ...module, code: () => 1 }],
    ["without a manifest", { code: "", hash: "" }],
    ["that is a tool object", echo],
    ["that is text", "echo"],
    ["that is nothing", null],
  ])("%s is registered or refused as by a kernel in the same realm", async (_, foreign) => {
    const near = (await createKernel({ host: await host() })).register(foreign as never);
    const far = await remoteOf(await createKernel({ host: await host() })).register(foreign as never);
    expect(far).toEqual(near);
  });

  it("is called, and checked for its health and its purity, by what it was registered as", async () => {
    const kernel = await createKernel({ host: await host(), policy });
    const remote = remoteOf(kernel);
    const pure = packageOf("pure", "return input;", { determinism: "pure" });
    expect(await remote.register(pure)).toMatchObject({ ok: true, value: { id: "pure@1.0.0" } });
    expect(await remote.call(pure, { a: 1 })).toMatchObject({ ok: true, data: { a: 1 } });
    expect(await remote.health(pure)).toMatchObject({ state: "healthy" });
    expect(await remote.verifyPure(pure, [{ a: 1 }, {}], 2)).toEqual({ ok: true, runs: 4 });
    const stray = [{}, { later: () => 1 }];
    expect(await remote.verifyPure(pure, stray)).toEqual(await kernel.verifyPure(pure, stray));
  });
});

describe("members of a kernel that cross", () => {
  let kernel: Kernel;
  let remote: KernelClient;
  beforeEach(async () => {
    kernel = await createKernel({ policy });
    kernel.registerTrusted(echo);
    remote = remoteOf(kernel);
  });

  it("preview a call, with its options as the kernel reads them", async () => {
    const options = { caller: "ada", sessionId: "s", signal: AbortSignal.abort(), approver: yes, onEvent: () => {} };
    const calm = ({ proof, ...rest }: Preview): object => ({ ...rest, proof: proof && { ...proof, decidedAt: "" } });
    for (const [tool, input, given] of [
      ["echo", { message: "a" }, options],
      ["echo", { message: 1 }, options],
      ["echo", { message: () => 1 }, options],
      ["ecko", {}, {}],
      ["echo", { message: "a" }, null],
      ["echo", { message: "a" }, { caller: Symbol("ada") }],
      [{ manifest: { name: "echo", version: "2.0.0" } }, { message: "a" }, options],
    ] as const)
      expect(calm(await remote.preview(tool as never, input as never, given as never))).toEqual(
        calm(await kernel.preview(tool as never, input as never, given as never)),
      );
    expect(await remote.preview("echo", { message: "a" })).toMatchObject({ decision: "allow" });
    await kernel.setMode("NORMAL", "Whatever waits is written with it.");
    expect((await kernel.audit.read()).map(({ type }) => type)).toEqual(["tool.registered", "mode.changed"]);
  });

  it("tell how the kernel is", async () => {
    expect(await remote.health()).toEqual(await kernel.health());
    expect(await remote.health(null as never)).toMatchObject({ state: "unchecked" });
  });

  it("take a tool away", async () => {
    expect(await remote.unregister("echo@9.9.9")).toBe(false);
    expect(await remote.unregister("echo@1.0.0")).toBe(true);
    expect(kernel.list()).toEqual([]);
    expect((await kernel.audit.read()).at(-1)).toMatchObject({ type: "tool.unregistered" });
  });

  it("take grants away and give them back", async () => {
    const { revocationId, calls } = await remote.grants.revoke({ caller: "guest" }, "Under review.");
    expect(calls).toBe(0);
    expect(await remote.grants.list()).toEqual(kernel.grants.list());
    expect(kernel.grants.list()).toMatchObject([{ revocationId, match: { caller: "guest" } }]);
    expect(await remote.grants.restore(revocationId, "Reviewed.")).toBe(true);
    expect(kernel.grants.list()).toEqual([]);
    await expect(remote.grants.revoke({ caller: () => "guest" } as never, "no data")).rejects.toThrow(
      "well-formed text",
    );
  });

  it("say whether the log can be written", async () => {
    expect(await remote.audit.writable()).toBe(true);
  });

  it("refuse a tool object for isolation's sake, with a code and the place to register it", async () => {
    expect(await remote.registerTrusted(echo as never)).toEqual({
      ok: false,
      error: {
        code: "UNTRUSTED_TOOL",
        path: "",
        message: "A tool object has functions, and they run in the realm of the kernel.",
        hint: "Call it in the worker, on the kernel that exposeKernel takes.",
      },
    });
  });
});

describe("a call that is suspended from the page", () => {
  it("is resumed from the page, with the page's approver and listeners", async () => {
    const remote = remoteOf((await suspendingKernel(await host(), { tools: [guarded] })).kernel);
    const asked = Promise.withResolvers<string>();
    const first: Promise<CallResult> = remote.call(
      "guarded",
      { a: 1 },
      { approver: ({ callId }) => (asked.resolve(callId), new Promise(() => {})) },
    );
    const callId = await asked.promise;
    const suspension = await remote.suspend(callId);
    if (!suspension.ok) throw new Error(suspension.error.message);
    expect(await first).toMatchObject({ ok: false, error: { code: "SUSPENDED" } });
    const types: string[] = [];
    const onEvent = ({ type }: { readonly type: string }): void => void types.push(type);
    const result = await remote.resume(suspension.bytes, { approver: yes, onEvent });
    expect(result).toMatchObject({ ok: true, callId, data: { done: { a: 1 } } });
    expect(types.at(-1)).toBe("tool.completed");
    expect(await remote.resume(suspension.bytes)).toMatchObject({ ok: false, error: { code: "SNAPSHOT_REFUSED" } });
    expect(await remote.resume("no bytes" as never)).toMatchObject({ error: { code: "SNAPSHOT_REFUSED" } });
  });
});

describe("a call within a call from the page", () => {
  const asks = { approval: "always" } as const;
  const tools = [
    outer,
    toolWith(
      leaf("inner", () => "done"),
      asks,
    ),
  ];
  const named = (approver: string, asked: string[]): Approver => {
    return async (): Promise<ApprovalAnswer> => (asked.push(approver), { answer: "allow", scope: "once", approver });
  };

  it.each([
    ["approver", { own: false, page: true }, ["page"]],
    ["approver", { own: true, page: false }, ["kernel"]],
    ["nestedApprover", { own: true, page: true }, ["call"]],
  ] as const)("where the call brings %s, with %o: answered by %j", async (option, { own, page }, expected) => {
    const asked: string[] = [];
    const { kernel } = await openCalling(tools, own ? { approver: named("kernel", asked) } : {});
    const remote = remoteOf(kernel, page ? { approver: named("page", asked) } : {});
    const result = await remote.call("outer", {}, { [option]: named("call", asked) });
    expect(result).toMatchObject({ ok: true, data: { ok: true, data: "done" } });
    expect(asked).toEqual(expected);
  });
});
