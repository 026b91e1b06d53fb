import type { BusMessage } from "../port.ts";

/** The headers of requests and replies. docs/bus-protocol.md lists them with these texts. */
export const headers = {
  /** In all: the kind of the message. */
  kind: "keyhole-kind",
  /** In all: 32 hexadecimal digits, random for each exchange. Answers repeat it. */
  correlation: "keyhole-correlation",
  /** In requests: milliseconds since the epoch, at most 16 minutes ahead. The clocks of both machines must agree. */
  deadline: "keyhole-deadline",
  /** In requests: the digest of the definition that the caller means. */
  definition: "keyhole-definition",
  /** In requests: 64 hexadecimal digits, the digest of the first kernel's caller and its key. */
  key: "keyhole-idempotency-key",
  /** In all, if callers seal: `ID:SEAL`. The seal is BLAKE3 keyed with the caller's key, over subject, reply, these headers and the digest of the body. */
  credential: "keyhole-credential",
  /** In requests: W3C Trace Context of the call's span in the first kernel. */
  traceparent: "traceparent",
  /** In results: `ok` or `error`. */
  outcome: "keyhole-outcome",
  /** In results: the form of the body, `json`, `text` or `binary`. */
  form: "keyhole-form",
  /** In results: the serving kernel's id of the call. */
  call: "keyhole-call",
  /** In progress, logs and parts: from 1. The caller drops a number that is not above the last. */
  sequence: "keyhole-sequence",
  /** In definitions: the kernel that describes. In offers and answers of that call: the kernel that runs one call. */
  kernel: "keyhole-kernel",
  /** In `described`: the number of definitions that the kernel sent. */
  count: "keyhole-count",
  /** In results: the number of `part` messages before this one. */
  parts: "keyhole-parts",
} as const;

export const kinds = [
  "request",
  "take",
  "cancel",
  "ask",
  "describe",
  "definition",
  "described",
  "offer",
  "running",
  "progress",
  "log",
  "part",
  "result",
] as const;

export type Kind = (typeof kinds)[number];

export function kindOf(message: Pick<BusMessage, "headers">): Kind | undefined {
  const given = message.headers.get(headers.kind);
  return kinds.find((kind) => kind === given);
}

/** A non-negative whole number; `undefined` for anything else. */
export function numberOf(message: Pick<BusMessage, "headers">, name: string): number | undefined {
  const text = message.headers.get(name);
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
