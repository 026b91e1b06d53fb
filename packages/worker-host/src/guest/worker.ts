/**
 * The shell of the browser's isolates: a classic worker script (Chromium refuses module workers in
 * a frame without an origin). The first message brings the port to the host; everything else goes
 * over that port, and no other name leads to it. The shell first takes the functions that it needs,
 * then hardens the realm, then loads the tool's code.
 */
import type { HostMessage } from "../protocol/message.ts";
import { dispatcher, type ShellParts } from "./dispatch.ts";
import { hardenRealm } from "./harden/realm.ts";

declare const self: DedicatedWorkerGlobalScope;

const { createObjectURL, revokeObjectURL } = URL;
const TextBlob = Blob;
const Channel = MessageChannel;

self.onmessage = ({ ports: [port] }) => {
  self.onmessage = null;
  self.postMessage("started");
  if (port !== undefined) void start(port);
};

async function start(port: MessagePort): Promise<void> {
  const post = port.postMessage.bind(port) as ShellParts["post"];
  const imports = await canImport();
  const wasm = canCompile();
  const dispatch = dispatcher({ post, realm: hardenRealm(self), importText, whenIdle });
  port.onmessage = ({ data }: MessageEvent<HostMessage>) => dispatch(data);
  post({ type: "ready", imports, wasm });
}

/** From a blob: a name of its own, and code that cannot reach what the shell declared above it. */
async function importText(code: string): Promise<{ readonly default?: unknown }> {
  const url = createObjectURL(new TextBlob([code], { type: "text/javascript" }));
  try {
    return (await import(/* @vite-ignore */ url)) as { readonly default?: unknown };
  } finally {
    revokeObjectURL(url);
  }
}

/** By a message, because timers wait for milliseconds. */
function whenIdle(then: () => void): void {
  const { port1, port2 } = new Channel();
  port1.onmessage = () => {
    port1.close();
    then();
  };
  port2.postMessage(null);
}

async function canImport(): Promise<boolean> {
  try {
    await importText("export default 1");
    return true;
  } catch {
    return false;
  }
}

/** The smallest module: magic and version. */
function canCompile(): boolean {
  try {
    return (
      WebAssembly.Module.exports(new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]))).length === 0
    );
  } catch {
    return false;
  }
}
