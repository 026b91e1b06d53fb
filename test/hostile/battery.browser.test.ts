import { browserHost, domFrameContainer } from "@keyhole/worker-host/browser";
import { server } from "vitest/browser";
import { afterAll, beforeAll, expect, it } from "vitest";
import { canary } from "../browser/canary.ts";
import { moduleOf } from "../browser/open.ts";
import { describeBattery } from "./battery/describe.ts";
import { type Answer, frameScript, type Question } from "./battery/frame-script.ts";
import type { Bench, RawFrame } from "./battery/room.ts";

/** A guest without a shell. What an engine refuses to send at all (WebKit: a stream) is not sent; the guest says nonsense instead. */
const usurper = (deed: string): string => `
  onmessage = ({ ports: [port] }) => {
    const send = (message, transfer) => port.postMessage(message, transfer ?? []);
    postMessage("started");
    send({ type: "ready", imports: true, wasm: true });
    port.onmessage = async ({ data }) => {
      if (data.type === "load") send({ type: "loaded" });
      if (data.type !== "call") return;
      const { callId } = data.call;
      try { await (async () => { ${deed} })(); } catch { send("refused"); }
    };
  };`;

let frames = 0;

/** Runs a script where tools run, without the shell. */
async function openRaw(script: string): Promise<RawFrame> {
  const container = domFrameContainer({}, script);
  const { port1, port2 } = new MessageChannel();
  const id = `raw ${frames++}`;
  expect(await container.open(id, port2, "module")).toEqual({ ok: true });
  const waiting: ((text: string) => void)[] = [];
  port1.onmessage = ({ data: { question, text } }: MessageEvent<Answer>) => waiting[question]?.(text);
  return {
    ask: (name, tag, token) =>
      new Promise((resolve) => {
        const question: Question = { question: waiting.push(resolve) - 1, name, tag, token };
        port1.postMessage(question);
      }),
    close: () => {
      port1.close();
      void container.close(id);
    },
  };
}

let host: Awaited<ReturnType<typeof browserHost>>;
const overheard: unknown[] = [];
const listen = ({ data }: MessageEvent): void => void overheard.push(data);
let channel: BroadcastChannel;
beforeAll(async () => {
  host = await browserHost({ warm: 2 });
  channel = new BroadcastChannel("keyhole-test");
  channel.onmessage = ({ data }) => {
    overheard.push(data);
    channel.postMessage("I am");
  };
  addEventListener("message", listen);
});
afterAll(async () => {
  removeEventListener("message", listen);
  channel.close();
  await host.close();
});

const bench: Bench = {
  platform: server.browser as Bench["platform"],
  canary,
  open: (code) => host.open(moduleOf(code)),
  async usurp(deed) {
    const own = await browserHost({ container: domFrameContainer({}, usurper(deed)), warm: 0 });
    const isolate = await own.open(moduleOf("export default {}"));
    return {
      call: (call, port) => isolate.call(call, port),
      terminate: () => void own.close(),
      get alive() {
        return isolate.alive;
      },
    };
  },
  frame: (expressions) => openRaw(frameScript(expressions, { canary, page: location.origin })),
};

describeBattery(() => bench, bench.platform);

it("let the page hear nothing but its own frames", () => {
  const own = ["up", "started", "pong"];
  expect(overheard.filter((data) => !own.includes((data as { type?: string }).type ?? ""))).toEqual([]);
});
