import { type CapabilityRequest, engineVersion, hashBytes, type IsolateCall } from "@keyhole/kernel";
import { readStamp } from "../meter/stamp.ts";
import type { Engine } from "./engine.ts";
import type { Image } from "./vm.ts";

/** What a call has cost and may still cost. */
export interface CallFuel {
  readonly fuel: number;
  readonly fuelUsed: number;
  readonly memoryBytes: number;
}

/** A request that was not answered when its call was suspended. */
export interface OutstandingRequest {
  /** 0, 1, 2, … within the call. */
  readonly number: number;
  readonly request: CapabilityRequest;
}

/** One call that waits, with everything that it is. */
export interface Snapshot {
  /** Random: by it a second use is known. */
  readonly id: string;
  /** See {@link versionOf}. */
  readonly version: string;
  readonly toolHash: string;
  readonly call: IsolateCall;
  readonly used: CallFuel;
  /** Log lines and progress reports so far. */
  readonly messages: number;
  /** Requests so far, also those that were answered. */
  readonly requests: number;
  readonly outstanding: readonly OutstandingRequest[];
  readonly image: Image;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const LENGTH_BYTES = 4;

/** Names the kernel, the engine, how it was metered and the shell in it: memory means something else in any other. */
export function versionOf(engine: Engine, shell: string): string {
  const stamp = readStamp(engine.module);
  return hashBytes(encoder.encode(JSON.stringify([engineVersion, stamp?.version, stamp?.originalHash, shell])));
}

/** Length of the head, head as JSON, memory, bodies of requests. */
export function writeSnapshot({ image, outstanding, ...rest }: Snapshot): Uint8Array<ArrayBuffer> {
  const { memory, ...registers } = image;
  const head = {
    ...rest,
    image: { ...registers, memoryLength: memory.length },
    outstanding: outstanding.map(({ number, request: { body, ...asked } }) => ({
      number,
      request: asked,
      bodyLength: body?.length ?? null,
    })),
  };
  const text = encoder.encode(JSON.stringify(head));
  const bodies = outstanding.flatMap(({ request }) => request.body ?? []);
  const parts = [new Uint8Array(LENGTH_BYTES), text, memory, ...bodies];
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  new DataView(out.buffer).setUint32(0, text.length, true);
  let at = LENGTH_BYTES;
  for (const part of parts.slice(1)) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

type Head = Omit<Snapshot, "image" | "outstanding"> & {
  readonly image: Omit<Image, "memory"> & { readonly memoryLength: number };
  readonly outstanding: readonly {
    readonly number: number;
    readonly request: Omit<CapabilityRequest, "body">;
    readonly bodyLength: number | null;
  }[];
};

/**
 * Reads what {@link writeSnapshot} wrote. Only of bytes that are known to come from there.
 *
 * @returns undefined when another version of the kernel wrote them
 */
export function readSnapshot(bytes: Uint8Array<ArrayBuffer>, version: string): Snapshot | undefined {
  const start = LENGTH_BYTES + new DataView(bytes.buffer).getUint32(0, true);
  const head: unknown = JSON.parse(decoder.decode(bytes.subarray(LENGTH_BYTES, start)));
  if (!isOfVersion(head, version)) return undefined;
  let at = start;
  const take = (length: number): Uint8Array<ArrayBuffer> => bytes.slice(at, (at += length));
  const { memoryLength, ...registers } = head.image;
  const memory = take(memoryLength);
  const outstanding = head.outstanding.map(({ number, request, bodyLength }) => ({
    number,
    request: bodyLength === null ? request : { ...request, body: take(bodyLength) },
  }));
  return { ...head, image: { ...registers, memory }, outstanding };
}

/** The same version writes the same shape. */
function isOfVersion(head: unknown, version: string): head is Head {
  return typeof head === "object" && head !== null && "version" in head && head.version === version;
}
