import type { BusMessage } from "../port.ts";

/** The headers of requests and replies. docs/bus-protocol.md says what each of them holds. */
export const headers = {
  /** What a message is: see {@link Kind}. */
  kind: "keyhole-kind",
  correlation: "keyhole-correlation",
  deadline: "keyhole-deadline",
  definition: "keyhole-definition",
  key: "keyhole-idempotency-key",
  credential: "keyhole-credential",
  traceparent: "traceparent",
  outcome: "keyhole-outcome",
  /** Of a result's body. */
  form: "keyhole-form",
  call: "keyhole-call",
  sequence: "keyhole-sequence",
  /** Of a description: the kernel. Of a call that was offered: one kernel, for this call. */
  kernel: "keyhole-kernel",
  count: "keyhole-count",
  /** Of a result: how many messages of kind `part` come before it. */
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
