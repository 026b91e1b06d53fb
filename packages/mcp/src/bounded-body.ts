import { GatheredBytes } from "@keyhole/kernel/foreign";

/** The bytes of a body; `undefined` for more than `mostBytes`, of which no more is read. Throws the fault of the stream. */
export async function boundedBody({ body }: Request, mostBytes: number): Promise<Uint8Array | undefined> {
  const bytes = new GatheredBytes();
  for await (const chunk of body ?? []) {
    if (bytes.length + chunk.byteLength > mostBytes) return undefined;
    bytes.add(chunk);
  }
  return bytes.take();
}
