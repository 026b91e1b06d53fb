/**
 * The shell of the browser's isolates: a classic worker script (Chromium refuses module workers in a frame without an origin). The
 * first message brings the port to the host; everything else goes over that port, and no other name leads to it: what the shell needs it takes now,
 * then the realm is sealed, then the tool's code is loaded.
 */
import { runCall, thrownOutcome } from "@keyhole/kernel";
import type { GuestMessage, HostMessage } from "../protocol/message.ts";
import { type SealedRealm, seal } from "./seal.ts";
import { openUplink, type Uplink } from "./uplink.ts";

declare const self: DedicatedWorkerGlobalScope;

const { createObjectURL, revokeObjectURL } = URL;
const TextBlob = Blob;

self.onmessage = ({ ports: [port] }) => {
  self.onmessage = null;
  self.postMessage("started");
  if (port !== undefined) void start(port);
};

async function start(port: MessagePort): Promise<void> {
  const post = port.postMessage.bind(port) as (message: GuestMessage, transfer?: Transferable[]) => void;
  const imports = await canImport();
  const wasm = canCompile();
  listen(port, post, seal(self));
  post({ type: "ready", imports, wasm });
}

function listen(
  port: MessagePort,
  post: (message: GuestMessage, transfer?: Transferable[]) => void,
  realm: SealedRealm,
): void {
  const uplinks = new Map<string, Uplink>();
  let tool: unknown;

  const handlers = {
    async load({ code }) {
      try {
        tool = (await importText(code)).default;
        post({ type: "loaded" });
      } catch (thrown) {
        const { name, message } = thrownOutcome(thrown);
        post({ type: "load-failed", name, message });
      }
    },
    async call({ call }) {
      const { callId } = call;
      const uplink = openUplink(callId, post);
      uplinks.set(callId, uplink);
      const outcome = await runCall(tool, call, uplink.transport, realm);
      uplink.close();
      uplinks.delete(callId);
      const output = outcome.kind === "returned" ? outcome.output : undefined;
      const transfer = output?.form === "binary" ? [output.bytes.buffer as ArrayBuffer] : [];
      post({ type: "outcome", callId, outcome } as GuestMessage, transfer);
    },
    cancel({ callId }) {
      uplinks.get(callId)?.cancel();
    },
    reply({ callId, request, reply }) {
      uplinks.get(callId)?.reply(request, reply);
    },
  } satisfies {
    readonly [Type in HostMessage["type"]]: (message: Extract<HostMessage, { type: Type }>) => void | Promise<void>;
  };

  port.onmessage = ({ data }: MessageEvent<HostMessage>) => {
    void handlers[data.type](data as never);
  };
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
