import { blake3Hash, blake3Keyed } from "@keyhole/kernel";
import type { BusMessage, OutgoingMessage } from "../port.ts";
import { headers } from "./headers.ts";
import { hexOf } from "./token.ts";

/** A name that kernels know, and the secret that only they and its owner know. */
export interface BusCredential {
  /** 1 to 64 letters, digits, `_` and `-`. */
  readonly id: string;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

const idPattern = /^[A-Za-z0-9_-]{1,64}$/;
const KEY_BYTES = 32;
const encoder = new TextEncoder();

/** @throws TypeError for an id or a key of another form */
export function checkCredential({ id, key }: BusCredential): void {
  if (!idPattern.test(id))
    throw new TypeError(`Got the id ${JSON.stringify(id)}, expected 1 to 64 letters, digits, "_" and "-".`);
  if (key.length !== KEY_BYTES) throw new TypeError(`Got a key of ${key.length} bytes, expected ${KEY_BYTES}.`);
}

/** Every header that anything here reads, but the seal itself. A server may add others. */
const coveredNames = Object.values(headers).filter((name) => name !== headers.credential);

/** The content of a seal: all of a message. A listener can repeat it and cannot change it. */
type Sealed = Pick<BusMessage, "subject" | "headers" | "body"> & { readonly reply?: string | undefined };

function sealOf({ subject, reply = "", headers: all, body }: Sealed, key: Uint8Array): string {
  const covered = coveredNames.map((name) => all.get(name) ?? null);
  const text = JSON.stringify([subject, reply, covered, blake3Hash.bytes(body)]);
  return hexOf(blake3Keyed(key, encoder.encode(text.toWellFormed())));
}

/** The message with a seal that names its sender. */
export function sealed(
  subject: string,
  message: OutgoingMessage,
  credential: BusCredential | undefined,
): OutgoingMessage {
  if (!credential) return message;
  const seal = sealOf({ subject, ...message }, credential.key);
  const value = `${credential.id}:${seal}`;
  return { ...message, headers: new Map([...message.headers, [headers.credential, value]]) };
}

/** The credential of a message whose seal is right; `undefined` where there is none, or another one. */
export function credentialOf(
  message: BusMessage,
  keyOf: (id: string) => Uint8Array | undefined,
): BusCredential | undefined {
  const [, id, seal] =
    /^([A-Za-z0-9_-]{1,64}):([0-9a-f]{64})$/.exec(message.headers.get(headers.credential) ?? "") ?? [];
  const key = id === undefined ? undefined : keyOf(id);
  if (id === undefined || seal === undefined || !key) return undefined;
  return isSame(seal, sealOf(message, key)) ? { id, key } : undefined;
}

/** Without telling by its time how much of a guess is right. */
function isSame(a: string, b: string): boolean {
  let difference = a.length ^ b.length;
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at);
  return difference === 0;
}
