import { type CapabilityReply, isJsonObject, isKind, type JsonObject, parseJson } from "@keyhole/kernel";
import { decodeBase64, encodeBase64 } from "@keyhole/kernel/foreign";
import { protocolLimits } from "../../protocol/limits.ts";
import type { Machine } from "../machine/machine.ts";
import type { Ask } from "../wasi/folder.ts";

/** The services that a module gets at once, without a broker. */
export interface LocalServices {
  readonly log: (level: "debug" | "info" | "warn" | "error", message: string) => void;
  /** The stand-in for a secret. @throws TypeError for what is no name */
  readonly secret: (name: string) => string;
}

const encoder = new TextEncoder();

/**
 * `keyhole.call(reqPtr, reqLen, outPtr, outCap) → i32`: a request as JSON, and its answer as JSON.
 * Returns the number of bytes of the answer. When they do not fit, it writes nothing and returns a
 * negative number; a call with an empty request then reads the same answer.
 */
export function callFunction(machine: Machine, ask: Ask, local: LocalServices): (...values: number[]) => number {
  let answer: Uint8Array = new Uint8Array();
  return (...values) => {
    const [from = 0, length = 0, to = 0, room = 0] = values.map((value) => value >>> 0);
    const { byteLength } = machine.bytes();
    if (from + length > byteLength || to + room > byteLength)
      return machine.stop({ kind: "failed", message: "it gave `keyhole.call` an address outside of its memory" });
    machine.serve(1);
    machine.charge(length);
    if (length > 0)
      answer = encoder.encode(JSON.stringify(answerTo(machine.bytes().slice(from, from + length), ask, local)));
    if (answer.length > room) return -answer.length;
    machine.charge(answer.length);
    machine.bytes().set(answer, to);
    return answer.length;
  };
}

function answerTo(text: Uint8Array, ask: Ask, local: LocalServices): JsonObject {
  const read = readRequest(text);
  if (!("kind" in read)) return refusal(read.fault);
  const { kind, operation, arguments: asked } = read;
  if (kind === "log") {
    const { message } = asked;
    if (!isLevel(operation) || typeof message !== "string")
      return refusal("`log` has a level as operation and a text as `message`.");
    local.log(operation, message);
    return { ok: true, value: null };
  }
  if (kind === "secret.use") return secretAnswer(asked["name"], local);
  if (!isKind(kind)) return refusal(`There is no capability of the kind ${JSON.stringify(kind.slice(0, 100))}.`);
  const reply = ask({ kind, operation, arguments: asked, ...(read.body && { body: read.body }) });
  return replyOf(reply, read.wantsText);
}

interface ReadRequest {
  readonly kind: string;
  readonly operation: string;
  readonly arguments: JsonObject;
  readonly body: Uint8Array | undefined;
  /** Whether the answer's bytes are wanted as text. */
  readonly wantsText: boolean;
}

/** `{ kind, operation, arguments?, text? | base64?, reply?: "text" | "base64" }`. */
function readRequest(bytes: Uint8Array): ReadRequest | { readonly fault: string } {
  let decoded: string;
  try {
    decoded = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return { fault: "The request is not UTF-8." };
  }
  const parsed = parseJson(decoded, { maxDepth: protocolLimits.argumentsDepth + 1 });
  if (!parsed.ok) return { fault: `The request is not JSON: ${parsed.error.message}.` };
  if (!isJsonObject(parsed.value)) return { fault: "The request is not an object." };
  const { kind, operation, arguments: asked = {}, text, base64, reply = "base64" } = parsed.value;
  if (typeof kind !== "string" || typeof operation !== "string" || !isJsonObject(asked))
    return { fault: "A request has `kind` and `operation`, two texts, and `arguments`, an object." };
  if (reply !== "text" && reply !== "base64") return { fault: "`reply` is `text` or `base64`." };
  const body = bodyOf(text, base64);
  if (body === null) return { fault: "The body is `text`, or `base64` of bytes, and not both." };
  if (body !== undefined && body.byteLength > protocolLimits.bodyBytes) return { fault: "The body is too large." };
  return {
    kind,
    operation: operation.slice(0, protocolLimits.nameLength),
    arguments: asked,
    body,
    wantsText: reply === "text",
  };
}

/** `null` for what is neither. */
function bodyOf(text: unknown, base64: unknown): Uint8Array | undefined | null {
  if (text === undefined && base64 === undefined) return undefined;
  if (typeof text === "string" && base64 === undefined) return encoder.encode(text);
  if (typeof base64 !== "string" || text !== undefined) return null;
  return decodeBase64(base64) ?? null;
}

function secretAnswer(name: unknown, { secret }: LocalServices): JsonObject {
  try {
    return { ok: true, value: secret(typeof name === "string" ? name : "") };
  } catch (error) {
    return refusal(error instanceof Error ? error.message : "The value is not the name of a secret.");
  }
}

function replyOf(reply: CapabilityReply, asText: boolean): JsonObject {
  if (!reply.ok) return { ok: false, error: { ...reply.error } };
  const { value, body } = reply;
  if (body === undefined) return { ok: true, value };
  return asText
    ? { ok: true, value, text: new TextDecoder().decode(body) }
    : { ok: true, value, base64: encodeBase64(body) };
}

function refusal(message: string): JsonObject {
  return { ok: false, error: { code: "INVALID_REQUEST", message, hint: "" } };
}

const levels: ReadonlySet<string> = new Set(["debug", "info", "warn", "error"]);

function isLevel(operation: string): operation is Parameters<LocalServices["log"]>[0] {
  return levels.has(operation);
}
