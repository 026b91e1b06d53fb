import { domFrameContainer, type FrameContainer } from "@keyhole/worker-host/browser";
import { describe, expect, it } from "vitest";
import { canary } from "../browser/canary.ts";
import { frameScript, type Question } from "./battery/frame-script.ts";

const hits = async (tag: string): Promise<string[]> =>
  (await fetch(`${canary}/hits/${tag}`)).json() as Promise<string[]>;

/** Runs a script where tools run, without the shell. */
function openRaw(script: string): { readonly container: FrameContainer; readonly port: Promise<MessagePort> } {
  const container = domFrameContainer({}, script);
  const open = async (): Promise<MessagePort> => {
    const { port1, port2 } = new MessageChannel();
    expect(await container.open("raw", port2, "module")).toEqual({ ok: true });
    return port1;
  };
  return { container, port: open() };
}

const ask = (port: MessagePort, question: unknown): Promise<unknown> =>
  new Promise((resolve) => {
    port.onmessage = ({ data }) => resolve(data);
    port.postMessage(question);
  });

describe("the canary", () => {
  it("counts what reaches it, whichever way it comes", async () => {
    const at = (name: string): string => `${canary}/control/${name}`;
    const silent = (promise: Promise<unknown>): Promise<unknown> => promise.catch(() => undefined);
    const worker = new Worker(
      URL.createObjectURL(new Blob([`importScripts(${JSON.stringify(at("import-scripts"))})`])),
    );
    const settled = (target: WebSocket | EventSource): Promise<void> =>
      new Promise((resolve) => {
        target.onopen = target.onerror = () => {
          // An event source that failed asks again after some seconds, which a slow machine would count.
          if (target instanceof EventSource) target.close();
          resolve();
        };
      });
    const socket = new WebSocket(at("socket").replace("http", "ws"));
    const source = new EventSource(at("events"));
    await Promise.all([
      silent(fetch(at("fetch"))),
      silent(fetch(at("no-cors"), { mode: "no-cors" })),
      silent(import(/* @vite-ignore */ at("import"))),
      settled(socket),
      settled(source),
    ]);
    navigator.sendBeacon(at("beacon"), "x");
    await expect
      .poll(async () => (await hits("control")).map((hit) => hit.replace("/control/", "")).toSorted())
      .toEqual([
        "GET events",
        "GET fetch",
        "GET import",
        "GET import-scripts",
        "GET no-cors",
        "POST beacon",
        "UPGRADE socket",
      ]);
    worker.terminate();
  });
});

/** From the battery: what it refuses inside a frame works without one, or the refusals would say nothing. */
const expressions: Readonly<Record<string, string>> = {
  fetch: "(await fetch(at('fetch'))).status",
  "import()": "await import(at('import'))",
  importScripts: "importScripts(at('import-scripts')) ?? 'ran'",
  "the page's BroadcastChannel":
    "new Promise((resolve) => { const c = new BroadcastChannel('keyhole-control'); c.onmessage = () => resolve('heard'); c.postMessage('who is there'); })",
  eval: "(0, eval)('1 + 1')",
};

describe("the same code in a worker without a frame", () => {
  it.each(Object.keys(expressions))("gets out by %s: it is the frame that holds", async (name) => {
    const channel = new BroadcastChannel("keyhole-control");
    channel.onmessage = () => channel.postMessage("I am");
    const script = frameScript(expressions, { canary, page: location.origin, patienceMs: 120_000 });
    const worker = new Worker(URL.createObjectURL(new Blob([script])));
    const { port1, port2 } = new MessageChannel();
    worker.postMessage(null, [port2]);
    const question: Question = { question: 0, name, tag: "unframed", token: undefined };
    expect(await ask(port1, question)).toEqual({ question: 0, text: expect.stringMatching(/^GOT /) as string });
    worker.terminate();
    channel.close();
  });

  it("reached the canary", async () => {
    expect((await hits("unframed")).toSorted()).toEqual([
      "GET /unframed/fetch",
      "GET /unframed/import",
      "GET /unframed/import-scripts",
    ]);
  });
});

describe("two frames", () => {
  /** Says it to all, and answers with what it has heard by then. */
  const listening = `onmessage = ({ ports: [port] }) => {
    postMessage('started');
    const channel = new BroadcastChannel('between tools');
    const heard = [];
    channel.onmessage = ({ data }) => heard.push(data);
    port.onmessage = ({ data }) => { channel.postMessage(data); port.postMessage(heard); };
  }`;

  it("do not hear each other", async () => {
    const [a, b] = [openRaw(listening), openRaw(listening)];
    const [portA, portB] = [await a.port, await b.port];
    await Promise.all([ask(portA, "from a"), ask(portB, "from b")]);
    // The longer, the more they could hear: the time makes nothing fail.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await Promise.all([ask(portA, "from a"), ask(portB, "from b")])).toEqual([[], []]);
    await Promise.all([a.container.close("raw"), b.container.close("raw")]);
  });

  it("would, if they were two workers of one page: a control", async () => {
    const start = (): MessagePort => {
      const worker = new Worker(URL.createObjectURL(new Blob([listening])));
      const { port1, port2 } = new MessageChannel();
      worker.postMessage(null, [port2]);
      workers.push(worker);
      return port1;
    };
    const workers: Worker[] = [];
    const [portA, portB] = [start(), start()];
    await Promise.all([ask(portA, "ready?"), ask(portB, "ready?")]);
    await expect
      .poll(() => Promise.all([ask(portA, "from a"), ask(portB, "from b")]))
      .toEqual([expect.arrayContaining(["from b"]), expect.arrayContaining(["from a"])]);
    for (const worker of workers) worker.terminate();
  });
});

describe("a document that a page around this one puts into the frame", () => {
  /** It asks for the port as the frame's own document does, and tells what it gets. */
  const foreign = `<script>
    const { port1, port2 } = new MessageChannel();
    const tell = (heard) => parent.postMessage({ heard }, "*");
    port1.onmessage = onmessage = ({ data }) => tell("the " + data.type);
    parent.postMessage({ type: "up" }, "*");
    parent.postMessage({ type: "up", key: "" }, "*", [port2]);
    tell("nothing");
  </script>`;

  it("gets neither the isolate's port nor its script", async () => {
    const heard: unknown[] = [];
    const listen = ({ data }: MessageEvent<{ readonly heard?: unknown } | null>): void => {
      if (data?.heard !== undefined) heard.push(data.heard);
    };
    addEventListener("message", listen);
    let frame: HTMLIFrameElement | undefined;
    const seize = (): void => frame?.contentWindow?.location.replace(`data:text/html,${encodeURIComponent(foreign)}`);
    const adding = new MutationObserver(([change]) => {
      for (const added of change?.addedNodes ?? []) if (added instanceof HTMLIFrameElement) frame = added;
      seize();
    });
    adding.observe(document.documentElement, { childList: true });
    const { port2 } = new MessageChannel();
    const container = domFrameContainer();
    const opened = container.open("taken", port2, "module");
    // The browser drops a navigation that comes before the frame's own document: the page tries again.
    await expect
      .poll(() => {
        if (heard.length === 0) seize();
        return heard;
      })
      .toContain("nothing");
    adding.disconnect();
    // A second message of the page goes after those that it sent before.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await container.close("taken");
    // Where the frame's own document came first, the port is its own.
    const end = await opened;
    if (!end.ok) expect(end).toMatchObject({ code: "ISOLATE_LOST" });
    expect([...new Set(heard)]).toEqual(["nothing"]);
    removeEventListener("message", listen);
  });
});
