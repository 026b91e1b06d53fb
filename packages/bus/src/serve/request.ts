import { jsonTextFault } from "@keyhole/kernel/foreign";
import type { JsonObject } from "@keyhole/kernel";
import type { BusMessage } from "../port.ts";
import { headers, kindOf, numberOf } from "../wire/headers.ts";
import { readObject } from "../wire/body.ts";
import { partitionOf, type Subjects } from "../wire/subjects.ts";
import { isToken } from "../wire/token.ts";

/** A request whose envelope has the form of one. */
export interface BusRequest {
  readonly reply: string;
  readonly correlation: string;
  /** Since the epoch. */
  readonly deadlineMs: number;
  /** Digest of the definition that the caller means. */
  readonly definition: string;
  /** Digest of the caller's key. */
  readonly key: string | undefined;
  readonly traceparent: string | undefined;
  /** Also where the kernel does not know the key of the seal. */
  readonly isSealed: boolean;
}

const MOST_TRACE_UNITS = 128;

/** Where an answer to a message can go, and the correlation that it carries; `undefined` where no answer is possible. */
export function returnAddress(
  message: BusMessage,
  subjects: Subjects,
): { readonly reply: string; readonly correlation: string } | undefined {
  const { reply } = message;
  const correlation = message.headers.get(headers.correlation);
  return subjects.isReply(reply) && isToken(correlation) ? { reply, correlation } : undefined;
}

/** @param partition of the subject that it came to; `undefined` for the subject of requests without a key */
export function readRequest(
  message: BusMessage,
  subjects: Subjects,
  partition: number | undefined,
): BusRequest | undefined {
  const address = returnAddress(message, subjects);
  const deadlineMs = numberOf(message, headers.deadline);
  const definition = message.headers.get(headers.definition);
  const key = message.headers.get(headers.key);
  const traceparent = message.headers.get(headers.traceparent);
  if (!address || deadlineMs === undefined || definition === undefined || kindOf(message) !== "request")
    return undefined;
  if (traceparent !== undefined && traceparent.length > MOST_TRACE_UNITS) return undefined;
  // A key at the wrong subject would be another kernel's.
  if (key !== undefined && !/^[0-9a-f]{64}$/.test(key)) return undefined;
  if (partition !== (key === undefined ? undefined : partitionOf(key))) return undefined;
  return { ...address, deadlineMs, definition, key, traceparent, isSealed: message.headers.has(headers.credential) };
}

/** The arguments of a call; `undefined` also where another reader takes another value of them. */
export function readInput({ body }: Pick<BusMessage, "body">): JsonObject | undefined {
  const input = readObject(body);
  return input && jsonTextFault(decoder.decode(body)) === undefined ? input : undefined;
}

const decoder = new TextDecoder();
