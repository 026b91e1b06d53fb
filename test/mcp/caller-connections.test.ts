import { createKernel, type Kernel } from "@keyhole/kernel";
import { type McpEndpoint, mcpSource, type McpSourceOptions } from "@keyhole/mcp";
import { describe, expect, it } from "vitest";
import { FakeClock, settle } from "../support/fake-clock.ts";
import { plain, Scripted } from "./scripted.ts";
import { afterwards, closeAfterEach } from "./support.ts";

closeAfterEach();

/** A server that keeps the last planted value of each connection, as a process does, and can hold its answers back. */
class Keeping implements McpEndpoint {
  readonly way = {};
  readonly capabilities: McpEndpoint["capabilities"] = [];
  readonly effects: McpEndpoint["effects"] = [];
  readonly needs: McpEndpoint["needs"] = [];
  readonly connections: { isOpen: boolean; planted: unknown; calls: number }[] = [];
  readonly held: (() => void)[] = [];
  isHolding = false;

  open(): ReturnType<McpEndpoint["open"]> {
    const state = { isOpen: true, planted: "" as unknown, calls: 0 };
    this.connections.push(state);
    const script = new Scripted({
      tools: [plain("plant"), plain("look")],
      call: ({ id, params }, send) => {
        state.calls++;
        if (params?.name === "plant") state.planted = params.arguments?.["value"];
        const result = { content: [{ type: "text", text: state.planted }] };
        if (!this.isHolding) return result;
        send({ method: "notifications/message", params: { level: "info", data: state.planted } });
        this.held.push(() => send({ id, result }));
        return undefined;
      },
    });
    const transport = script.open();
    const { close } = transport;
    return Object.assign(transport, {
      close: async () => {
        state.isOpen = false;
        await close();
      },
    });
  }

  /** Open connections, without the source's own. */
  get openCount(): number {
    return this.connections.slice(1).filter(({ isOpen }) => isOpen).length;
  }
}

async function sourceOf(kernel: Kernel, options: Partial<McpSourceOptions> = {}): Promise<Keeping> {
  const server = new Keeping();
  const source = await mcpSource(kernel, { name: "peer", server, era: "2025-11-25", ...options });
  afterwards(() => source.close());
  return server;
}

async function opened(options: Partial<McpSourceOptions> = {}): Promise<{ kernel: Kernel; server: Keeping }> {
  const kernel = await createKernel({ policy: { version: "1", posture: "permissive" } });
  afterwards(() => kernel.close());
  return { kernel, server: await sourceOf(kernel, options) };
}

/** What a caller reads, or the code of its failure. */
async function said(kernel: Kernel, caller: string, tool: string, more: object = {}): Promise<string> {
  const result = await kernel.call(tool, { value: `of ${caller}` }, { caller, ...more });
  return result.ok
    ? (result.data as { readonly content: readonly [{ text: string }] }).content[0].text
    : result.error.code;
}

describe("a connection to a server", () => {
  it("belongs to one caller: of ten callers and five servers none reads what another planted", async () => {
    const kernel = await createKernel({ policy: { version: "1", posture: "permissive" } });
    afterwards(() => kernel.close());
    const names = ["a", "b", "c", "d", "e"];
    const servers = await Promise.all(names.map((name) => sourceOf(kernel, { name })));
    const callers = Array.from({ length: 10 }, (_, at) => `caller-${at}`);
    const each = callers.flatMap((caller) => names.map((name) => ({ caller, name })));
    await Promise.all(each.map(({ caller, name }) => said(kernel, caller, `${name}_plant`)));
    const read = await Promise.all(each.map(({ caller, name }) => said(kernel, caller, `${name}_look`)));
    expect(read).toEqual(each.map(({ caller }) => `of ${caller}`));
    // The source's own serves no call.
    for (const { connections } of servers) {
      expect(connections.map(({ calls }) => calls)).toEqual([0, ...callers.map(() => 2)]);
    }
  });

  it("serves all callers where the program says that the server is shared", async () => {
    const { kernel, server } = await opened({ shared: true });
    expect(await said(kernel, "ada", "peer_plant")).toBe("of ada");
    expect(await said(kernel, "bob", "peer_look")).toBe("of ada");
    expect(server.connections).toHaveLength(1);
  });

  it("brings its log lines to the calls of its own caller", async () => {
    const { kernel, server } = await opened();
    server.isHolding = true;
    const logs: string[][] = [[], []];
    const calls = ["ada", "bob"].map((caller, at) =>
      said(kernel, caller, "peer_plant", { onLog: ({ message }: { message: string }) => logs[at]?.push(message) }),
    );
    await expect.poll(() => server.held).toHaveLength(2);
    for (const answer of server.held) answer();
    await Promise.all(calls);
    expect(logs).toEqual([["of ada"], ["of bob"]]);
  });

  it("ends an hour after the last call, and not before", async () => {
    const clock = new FakeClock();
    const { kernel, server } = await opened({ clock });
    await said(kernel, "ada", "peer_plant");
    await clock.advance(3_599_999);
    expect(await said(kernel, "ada", "peer_look")).toBe("of ada");
    await clock.advance(3_599_999);
    expect(server.openCount).toBe(1);
    await clock.advance(1);
    expect(server.openCount).toBe(0);
    expect(await said(kernel, "ada", "peer_look")).toBe("");
  });
});

describe("beyond the bound of connections", () => {
  it("the one that is idle longest ends", async () => {
    const { kernel, server } = await opened({ connections: 2 });
    for (const caller of ["ada", "bob"]) await said(kernel, caller, "peer_plant");
    await said(kernel, "ada", "peer_look");
    expect(await said(kernel, "cyd", "peer_plant")).toBe("of cyd");
    expect(server.openCount).toBe(2);
    expect(await said(kernel, "ada", "peer_look")).toBe("of ada");
    expect(await said(kernel, "bob", "peer_look")).toBe("");
    expect(server.openCount).toBe(2);
  });

  it("a call waits while all are in use, and is served when a call ends", async () => {
    const { kernel, server } = await opened({ connections: 1 });
    server.isHolding = true;
    const first = said(kernel, "ada", "peer_plant");
    await expect.poll(() => server.held).toHaveLength(1);
    const others = ["peer_plant", "peer_look"].map((tool) => said(kernel, "bob", tool));
    await settle();
    expect(server.connections).toHaveLength(2);
    server.isHolding = false;
    server.held[0]?.();
    expect(await first).toBe("of ada");
    expect(await Promise.all(others)).toEqual(["of bob", "of bob"]);
    expect(server.openCount).toBe(1);
  });

  it("a call that ends while it waits leaves its place to the next", async () => {
    const { kernel, server } = await opened({ connections: 1 });
    server.isHolding = true;
    const first = said(kernel, "ada", "peer_plant");
    await expect.poll(() => server.held).toHaveLength(1);
    const cancel = new AbortController();
    const second = said(kernel, "bob", "peer_plant", { signal: cancel.signal });
    await settle();
    const third = said(kernel, "cyd", "peer_plant");
    cancel.abort();
    expect(await second).toBe("CANCELLED");
    server.isHolding = false;
    server.held[0]?.();
    expect(await first).toBe("of ada");
    expect(await third).toBe("of cyd");
    expect(server.connections).toHaveLength(3);
  });
});
