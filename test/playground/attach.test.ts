import { createKernel, defineTool, type Kernel } from "@keyhole/kernel";
import { exposeInspector, type PageInspectorOptions } from "../../packages/worker-host/src/browser/inspector.ts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fetchOver, type Line, openPageClient } from "../../packages/playground/src/client/attach.ts";
import { hostOf, readKernelAddress } from "../../packages/playground/src/client/edge-address.ts";

const app = "https://app.example";
const playground = "https://play.example";
const policy = { version: "1", posture: "standard" };
const echo = defineTool({
  name: "echo",
  version: "1.0.0",
  description: "Echoes.",
  input: { type: "object" },
  output: { kind: "json" },
  execute: () => ({ said: true }),
});

let appWindow: EventTarget;
const closing: (() => void)[] = [];

beforeEach(() => {
  appWindow = new EventTarget();
  vi.stubGlobal("location", { origin: app });
  vi.stubGlobal("addEventListener", appWindow.addEventListener.bind(appWindow));
  vi.stubGlobal("removeEventListener", appWindow.removeEventListener.bind(appWindow));
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
  vi.unstubAllGlobals();
});

/** What a browser does: it delivers to the named origin alone, and says from where. */
function deliver(data: unknown, from: string, ports: readonly MessagePort[]): void {
  appWindow.dispatchEvent(new MessageEvent("message", { data, origin: from, ports: [...ports] }));
}

function beOpenedBy(origin: string): void {
  const opener = {
    postMessage(data: unknown, target: string, ports: readonly MessagePort[]) {
      if (target === origin) deliver(data, playground, ports);
    },
  };
  vi.stubGlobal("window", { opener });
}

interface Exposed {
  readonly kernel: Kernel;
  readonly address: string;
  readonly token: string;
}

async function exposed(options: PageInspectorOptions): Promise<Exposed> {
  const kernel = await createKernel({ policy });
  expect(kernel.registerTrusted(echo).ok).toBe(true);
  const { link, close } = exposeInspector(kernel, { policy: () => policy, ...options });
  closing.push(close);
  const given = new URLSearchParams(new URL(link).hash.slice(1));
  return { kernel, address: given.get("edge")!, token: given.get("token")! };
}

/** Asks on a port and gives what comes until the last ask is answered. */
async function answersTo(port: MessagePort, asks: readonly object[]): Promise<readonly { status: number }[]> {
  const got: { inspectorAnswer: number; status: number }[] = [];
  port.addEventListener("message", ({ data }: MessageEvent<(typeof got)[number]>) => void got.push(data));
  port.start();
  closing.push(() => port.close());
  for (const [id, ask] of asks.entries()) port.postMessage({ inspectorAsk: id, ...ask });
  await expect.poll(() => got.length).toBe(asks.length);
  return got.toSorted((a, b) => a.inspectorAnswer - b.inspectorAnswer);
}

describe.each([
  ["another origin, over its windows", playground],
  ["its own origin, over a channel", app],
])("a page of %s", (_, origin) => {
  it("has the tools, the policy and the calls of the kernel, and changes nothing", async () => {
    const { kernel, address, token } = await exposed({ origin });
    beOpenedBy(app);
    const client = await openPageClient({ address, token });
    closing.push(() => client.close());
    expect(client).toMatchObject({ isWatched: true, address, tools: [{ id: "echo@1.0.0" }] });
    expect(await client.governance!.read()).toMatchObject({ policy, mode: "NORMAL" });
    expect(client.governance!.setMode).toBeUndefined();
    const seen: string[] = [];
    closing.push(client.watch!((events) => seen.push(...events.map(({ type }) => type))));
    await kernel.call("echo", {});
    await expect.poll(() => seen).toContain("tool.completed");
  });

  it("sets the mode where the program lets it", async () => {
    const { kernel, address, token } = await exposed({ origin, mayChangeMode: true });
    beOpenedBy(app);
    const client = await openPageClient({ address, token });
    closing.push(() => client.close());
    await client.governance!.setMode!("LOCKDOWN", "An attack.");
    expect(kernel.mode).toBe("LOCKDOWN");
  });
});

describe("an inspector in a page", () => {
  it("gives another origin nothing, and closes a port that comes without the token", async () => {
    const { token } = await exposed({ origin: playground });
    const [evil, guess, right] = [new MessageChannel(), new MessageChannel(), new MessageChannel()];
    const heard: unknown[] = [];
    evil.port1.addEventListener("message", ({ data }) => heard.push(data));
    evil.port1.start();
    evil.port1.postMessage({ inspectorAsk: 1, path: "/v1/tools" });
    deliver({ inspectorAttach: true, token }, "https://evil.example", [evil.port2]);
    deliver({ inspectorAttach: true, token }, "null", [new MessageChannel().port2]);
    const closed = new Promise((resolve) => guess.port1.addEventListener("close", resolve));
    deliver({ inspectorAttach: true, token: "0".repeat(64) }, playground, [guess.port2]);
    deliver({ inspectorAttach: true }, playground, []);
    await closed;
    deliver({ inspectorAttach: true, token }, playground, [right.port2]);
    expect(await answersTo(right.port1, [{ path: "/v1/tools" }])).toMatchObject([{ status: 200 }]);
    expect(heard).toEqual([]);
    evil.port1.close();
  });

  it("answers nothing on its channel without the token", async () => {
    const { address, token } = await exposed({ origin: app });
    const channel = new BroadcastChannel(address.slice("channel:".length));
    closing.push(() => channel.close());
    const got: number[] = [];
    channel.addEventListener(
      "message",
      ({ data }: MessageEvent<{ inspectorAnswer: number }>) => void got.push(data.inspectorAnswer),
    );
    for (const wrong of [undefined, "", token.slice(1), {}, [token]])
      channel.postMessage({ inspectorAsk: 1, path: "/v1/tools", token: wrong });
    channel.postMessage({ inspectorAsk: 2, path: "/v1/tools", token });
    await expect.poll(() => got).toEqual([2]);
  });

  it("keeps nothing for a reader that floods it: eight wait, the rest is refused", async () => {
    const { kernel, token } = await exposed({ origin: playground });
    const { port1, port2 } = new MessageChannel();
    deliver({ inspectorAttach: true, token }, playground, [port2]);
    const statuses: number[] = [];
    port1.addEventListener("message", ({ data }: MessageEvent<{ status: number }>) => void statuses.push(data.status));
    port1.start();
    closing.push(() => port1.close());
    for (let id = 0; id < 500; id++) port1.postMessage({ inspectorAsk: id, path: "/v1/audit?from=first" });
    await expect.poll(() => statuses.length).toBe(492);
    expect(new Set(statuses)).toEqual(new Set([429]));
    await kernel.call("echo", {});
    await expect.poll(() => statuses.slice(492)).toEqual(Array.from({ length: 8 }, () => 200));
  });

  it("refuses what is no read, and reads no message that asks nothing", async () => {
    const { kernel, token } = await exposed({ origin: playground, mayChangeMode: true });
    const { port1, port2 } = new MessageChannel();
    deliver({ inspectorAttach: true, token }, playground, [port2]);
    for (const odd of [
      null,
      7,
      "ask",
      { inspectorAsk: "1", path: "/v1/tools" },
      { inspectorAsk: 1, path: "x".repeat(9_000) },
    ])
      port1.postMessage(odd);
    const statuses = await answersTo(port1, [
      { path: "/v1/tools/echo/calls", body: "{}" },
      { path: "/v1/mode", body: "{" },
      { path: "/v1/mode", body: '{"mode":"__proto__","reason":""}' },
      { path: "/v1/mode", body: `{"mode":"LOCKDOWN","reason":"${"x".repeat(600)}"}` },
      { path: "/v1/secrets" },
      { path: "/v1/audit?from=-1" },
    ]);
    expect(statuses.map(({ status }) => status)).toEqual([405, 400, 400, 400, 404, 400]);
    expect(kernel.mode).toBe("NORMAL");
  });

  it.each(["*", "https://play.example/", "null", "play.example"])(
    "takes no origin that is none: %s",
    async (origin) => {
      await expect(exposed({ origin })).rejects.toThrow("expected one such as");
    },
  );
});

describe("a page that watches another", () => {
  it.each([
    ["window:https://app.example", "app.example"],
    ["channel:keyhole-inspector-1", "a page of this origin"],
    ["https://edge.example", "edge.example"],
  ])("knows the address %s", (address, host) => {
    expect(readKernelAddress(address)).toBe(address);
    expect(hostOf(address)).toBe(host);
  });

  it.each([
    "window:http://app.example",
    "window:https://app.example/",
    "window:",
    "channel:",
    "channel:a b",
    "channel:<b>",
  ])("refuses the address %s", (address) => {
    expect(readKernelAddress(address)).toBeUndefined();
  });

  it("says that the page that opened it is gone", async () => {
    vi.stubGlobal("window", { opener: null });
    await expect(openPageClient({ address: `window:${app}`, token: "" })).rejects.toThrow("is gone");
  });

  it("takes answers that are none for no answer, and each ask's own alone", async () => {
    let listener: (foreign: unknown) => void = () => {};
    const sent: object[] = [];
    const line: Line = { send: (message) => sent.push(message), listen: (each) => (listener = each), close: () => {} };
    const answer = fetchOver(line, "window:https://app.example")("window:https://app.example/v1/tools", {});
    expect(sent).toEqual([{ inspectorAsk: 1, path: "/v1/tools" }]);
    const odd = [
      null,
      1,
      {},
      { inspectorAnswer: 2, status: 200, text: "2" },
      { inspectorAnswer: 1, status: 1e9, text: "" },
    ];
    for (const each of [...odd, { inspectorAnswer: 1, status: 200, text: {} }]) listener(each);
    listener({ inspectorAnswer: 1, status: 200, text: "right" });
    listener({ inspectorAnswer: 1, status: 200, text: "again" });
    expect(await (await answer).text()).toBe("right");
  });
});
