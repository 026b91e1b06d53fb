import { type CapabilityRequest, hashBytes } from "@keyhole/kernel";
import type { Image, SuspendedCall, SuspendedMachine } from "../../protocol/suspended-call.ts";
import { readMeterSection } from "../meter/meter-section.ts";
import type { Engine } from "./engine.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const LENGTH_BYTES = 4;
/** Counted up with every change of {@link SuspendedCall}. */
const FORMAT = 1;

/** Names the engine, how it was metered and the shell in it: memory means something else in any other. */
export function snapshotKindOf(engine: Engine, shell: string): string {
  const meterSection = readMeterSection(engine.module);
  const parts = [FORMAT, meterSection?.version, meterSection?.originalHash, shell];
  return `interpreter ${hashBytes(encoder.encode(JSON.stringify(parts)))}`;
}

/** Length of the head, head as JSON, memory, bodies of requests. */
export function writeSnapshot({ machine, outstanding, ...rest }: SuspendedCall): Uint8Array<ArrayBuffer> {
  const { memory, ...registers } = machine.image;
  const head: Head = {
    ...rest,
    machine: { ...machine, image: { ...registers, memoryLength: memory.length } },
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

type Head = Omit<SuspendedCall, "machine" | "outstanding"> & {
  readonly machine: Omit<SuspendedMachine, "image"> & {
    readonly image: Omit<Image, "memory"> & { readonly memoryLength: number };
  };
  readonly outstanding: readonly {
    readonly number: number;
    readonly request: Omit<CapabilityRequest, "body">;
    readonly bodyLength: number | null;
  }[];
};

/** Reads what {@link writeSnapshot} wrote, with the same engine and shell. Only of bytes that are known to come from there. */
export function readSnapshot(bytes: Uint8Array<ArrayBuffer>): SuspendedCall {
  const start = LENGTH_BYTES + new DataView(bytes.buffer).getUint32(0, true);
  const head = JSON.parse(decoder.decode(bytes.subarray(LENGTH_BYTES, start))) as Head;
  let at = start;
  const take = (length: number): Uint8Array<ArrayBuffer> => bytes.slice(at, (at += length));
  const { memoryLength, ...registers } = head.machine.image;
  const memory = take(memoryLength);
  const outstanding = head.outstanding.map(({ number, request, bodyLength }) => ({
    number,
    request: bodyLength === null ? request : { ...request, body: take(bodyLength) },
  }));
  return { ...head, machine: { ...head.machine, image: { ...registers, memory } }, outstanding };
}
