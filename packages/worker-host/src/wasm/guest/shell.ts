/**
 * The shell inside QuickJS. It gives the language the platform's data types, hardens the realm as every other shell does, and speaks the same protocol: as JSON text, with bytes beside
 * it.
 */
import { host } from "./host.ts";
// Before everything that takes these names when it is loaded.
import "./platform/index.ts";
import { dispatcher, type ShellParts } from "../../guest/dispatch.ts";
import { hardenRealm } from "../../guest/harden/realm.ts";
import type { GuestMessage, HostMessage } from "../../protocol/message.ts";

const { parse, stringify } = JSON;

const post: ShellParts["post"] = (message) => {
  const bytes = bytesOf(message);
  if (bytes === undefined) return host.post(stringify(message));
  host.post(stringify(message, withoutBytes), bytes.slice().buffer);
};

const dispatch = dispatcher({ post, realm: hardenRealm(globalThis), importText: (code) => host.evaluate(code) });

host.ready((text, body) => {
  const message = parse(text) as HostMessage;
  if (message.type === "reply" && body !== undefined) Object.assign(message.reply, { body });
  if (message.type === "pulled") Object.assign(message, { bytes: body });
  dispatch(message);
});

function bytesOf(message: GuestMessage): Uint8Array<ArrayBuffer> | undefined {
  if (message.type === "request") return message.body as Uint8Array<ArrayBuffer> | undefined;
  if (message.type === "piece") return message.bytes as Uint8Array<ArrayBuffer>;
  if (message.type !== "outcome" || message.outcome.kind !== "returned") return undefined;
  const { output } = message.outcome;
  return output.form === "binary" ? (output.bytes as Uint8Array<ArrayBuffer>) : undefined;
}

function withoutBytes(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? null : value;
}
