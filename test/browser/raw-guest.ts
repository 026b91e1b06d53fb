import type { IsolateCall } from "@keyhole/kernel";
import { afterEach, expect } from "vitest";
import { type ChannelOptions, GuestChannel } from "../../packages/worker-host/src/protocol/channel.ts";

/** A guest that says what the test tells it to: the other end of a real message channel, without a shell. */
export interface RawGuest {
  readonly channel: GuestChannel;
  readonly broken: string[];
  readonly received: { type: string; [key: string]: unknown }[];
  say(...messages: unknown[]): void;
}

const ports: MessagePort[] = [];

afterEach(() => {
  for (const port of ports.splice(0)) port.close();
});

export function rawGuest(options?: ChannelOptions): RawGuest {
  const { port1, port2 } = new MessageChannel();
  ports.push(port1, port2);
  const broken: string[] = [];
  const received: RawGuest["received"] = [];
  port2.onmessage = ({ data }) => received.push(data);
  const channel = new GuestChannel(port1, (reason) => broken.push(reason), options);
  return { channel, broken, received, say: (...messages) => messages.forEach((message) => port2.postMessage(message)) };
}

export const ready = { type: "ready", imports: true, wasm: true };

export async function loadedGuest(options?: ChannelOptions): Promise<RawGuest> {
  const guest = rawGuest(options);
  guest.say(ready);
  await guest.channel.ready;
  const loading = guest.channel.load("export default {}");
  guest.say({ type: "loaded" });
  expect(await loading).toEqual({ kind: "loaded" });
  return guest;
}

export const call: IsolateCall = {
  callId: "call-1",
  sessionId: "session",
  inputText: "{}",
  outputKind: "json",
  outputBytes: 100,
  seed: "0".repeat(64),
  nowMs: 0,
  real: { clock: false, random: false },
};

export const callId = call.callId;

export const returned = (text: string) => ({
  type: "outcome",
  callId,
  outcome: { kind: "returned", output: { form: "json", text } },
});

export const request = (number: number, more: object = {}) => ({
  type: "request",
  callId,
  request: number,
  kind: "fs.read",
  operation: "read",
  arguments: '{"path":"a"}',
  ...more,
});

export const log = (more: object = {}) => ({ type: "log", callId, level: "info", message: "m", ...more });
