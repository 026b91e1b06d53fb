/**
 * The script of a worker that holds one metered module, in a frame like every other tool. The first message brings the port to the host. The module reaches nothing but the
 * imports that the relay gives it, so that there is no realm to harden.
 */
import type { HostMessage } from "../protocol/message.ts";
import { openWasmPort } from "../wasm/tool/port.ts";

// The page's types name a window here; it is a dedicated worker.
const own = globalThis as unknown as {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: string): void;
};

own.onmessage = ({ ports: [port] }) => {
  own.onmessage = null;
  own.postMessage("started");
  if (port === undefined) return;
  const relay = openWasmPort();
  relay.onmessage = ({ data }) => port.postMessage(data);
  port.onmessage = ({ data }: MessageEvent<HostMessage>) => relay.postMessage(data);
};
