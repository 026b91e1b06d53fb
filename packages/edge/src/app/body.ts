import { type BodyFault, type BodyReader, decodeBase64, jsonExcess, jsonTextFault } from "@keyhole/kernel/foreign";
import type { Check } from "./check.ts";
import { HttpRefusal } from "./problem.ts";
import { drain } from "./drain-body.ts";

const jsonType = "application/json";

export const bodyLimits: Readonly<
  Record<"bytes" | "maxDepth" | "maxTopMembers" | "maxMembers" | "maxNodes" | "turnUnits", number>
> = {
  /** The kernel's own limit of an input (8 MiB) and room for the envelope. */
  bytes: (8 << 20) + 4096,
  /** The kernel allows 64 levels in an input, which sits one level deep. */
  maxDepth: 80,
  /** No envelope has a tenth of it. */
  maxTopMembers: 250,
  /** Of all objects together, and all values: the limit of the kernel for an input, with room for the envelope. */
  maxMembers: 51_000,
  maxNodes: 101_000,
  /** UTF-16 units up to which a body is read in one turn of the event loop. A step that looks at each unit of a larger body has its own turn. */
  turnUnits: 131_072,
};

/** The sender of a body, and the reader of all bodies of this kernel. */
export interface BodySender {
  readonly bodies: BodyReader;
  readonly subject: string;
}

/**
 * Reads a request's JSON body and checks it. The service counts the bytes on arrival, so that a wrong or absent `Content-Length` gains nothing.
 *
 * @param types the media types of this address, for the refusal of another one
 * @throws {HttpRefusal}
 */
export async function readBody<Output>(
  request: Request,
  check: Check<Output>,
  { bodies, subject }: BodySender,
  types: readonly string[] = [jsonType],
): Promise<Output> {
  if (!isOfType(request, jsonType) || request.headers.has("content-encoding"))
    throw new HttpRefusal("UNSUPPORTED_MEDIA_TYPE", `Send the body as ${types.join(" or as ")}, uncompressed.`, {
      "accept-post": types.join(", "),
    });
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = request.body?.getReader();
  const read = await bodies.read(subject, reader, bodyLimits.bytes, (bytes) => readJson("body", bytes, check));
  if (read.ok) return read.value;
  // A late sender keeps its answer waiting.
  if (read.reason === "late") void reader?.cancel().catch(() => {});
  else if (reader) await drain(reader);
  throw refusals[read.reason](read.message);
}

const refusals = {
  "too-large": (message) => new HttpRefusal("BODY_TOO_LARGE", message),
  late: (message) => new HttpRefusal("BODY_TIMEOUT", message, {}, "Send the body in one go."),
  busy: (message) => new HttpRefusal("BODIES_BUSY", message, { "retry-after": "10" }, "Send it again in 10 s."),
  broken: (message) => new HttpRefusal("INVALID_REQUEST", message, {}, "Send the whole body."),
} as const satisfies Record<BodyFault["reason"], (message: string) => HttpRefusal>;

/** A Byte Sequence of RFC 9651: base64 between colons. */
const byteSequence = /^:([A-Za-z0-9+/]*={0,2}):$/;

/**
 * The same JSON out of a header, for requests whose body is something else. How long a header may be is the platform's to say.
 *
 * @param fallback the header of a request that has none
 * @throws {HttpRefusal}
 */
export async function readHeader<Output>(
  request: Request,
  name: string,
  check: Check<Output>,
  fallback: string,
): Promise<Output> {
  const base64 = byteSequence.exec(request.headers.get(name) ?? fallback)?.[1];
  // Also one that is padded where it should not be.
  const bytes = base64 === undefined ? undefined : decodeBase64(base64);
  if (bytes) return readJson(`header ${name}`, bytes, check);
  throw new HttpRefusal(
    "INVALID_REQUEST",
    `The header ${name} is not a Byte Sequence (RFC 9651). Send base64 between colons.`,
  );
}

/** @param what it is of the request */
async function readJson<Output>(what: string, bytes: Uint8Array, check: Check<Output>): Promise<Output> {
  const text = decode(what, bytes);
  const turn = async (): Promise<void> => {
    if (text.length > bodyLimits.turnUnits) await new Promise((resolve) => setTimeout(resolve, 0));
  };
  await turn();
  checkExcess(what, text);
  await turn();
  checkText(what, text);
  await turn();
  const value: unknown = JSON.parse(text);
  await turn();
  return check(what, value);
}

/** @throws {HttpRefusal} before anything of it is parsed */
function checkExcess(what: string, text: string): void {
  const excess = jsonExcess(text, bodyLimits);
  const { maxDepth, maxNodes, maxMembers, maxTopMembers } = bodyLimits;
  if (excess === "too-deep")
    throw new HttpRefusal("INVALID_REQUEST", `The ${what} nests deeper than ${maxDepth} levels.`);
  const most = `${maxNodes} values, ${maxMembers} members or ${maxTopMembers} members at its top`;
  if (excess === "too-large") throw new HttpRefusal("INVALID_REQUEST", `The ${what} has more than ${most}.`);
}

/** @throws {HttpRefusal} for a text that is no JSON, and for a text of which another reader takes another value */
function checkText(noun: string, text: string): void {
  const fault = jsonTextFault(text, "exact", noun);
  if (fault) throw new HttpRefusal("INVALID_REQUEST", fault.message);
}

export function isOfType(request: Request, type: string): boolean {
  return request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() === type;
}

function decode(what: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw new HttpRefusal("INVALID_REQUEST", `The ${what} is not UTF-8.`);
  }
}
