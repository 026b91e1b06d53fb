import { GatheredBytes, nextPiece } from "@keyhole/kernel/foreign";

/** Longer than any sending client needs: a silent or slow sender holds a connection and its bytes. */
const TOTAL_MS = 30_000;
/** Between two pieces. */
const SILENT_MS = 10_000;

/** A sender was silent for 10 s, or took more than 30 s. */
export class LateBody extends Error {
  constructor() {
    super(`The body took more than ${TOTAL_MS / 1_000} s, or was silent for ${SILENT_MS / 1_000} s.`);
    this.name = "LateBody";
  }
}

/**
 * The bytes of a body; `undefined` for more than `mostBytes`. Beyond the bound or the time the stream is cancelled.
 *
 * @throws {LateBody} or the fault of the stream
 */
export async function boundedBody({ body }: Request, mostBytes: number): Promise<Uint8Array | undefined> {
  const bytes = new GatheredBytes();
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
  const untilMs = performance.now() + TOTAL_MS;
  for (let piece = await nextOf(reader, untilMs); piece; piece = await nextOf(reader, untilMs)) {
    if (bytes.length + piece.byteLength > mostBytes) {
      reader?.cancel().catch(() => {});
      return undefined;
    }
    bytes.add(piece);
  }
  return bytes.take();
}

/** `undefined` at the end. */
async function nextOf(
  reader: ReadableStreamDefaultReader<Uint8Array> | undefined,
  untilMs: number,
): Promise<Uint8Array | undefined> {
  if (!reader) return undefined;
  const piece = await nextPiece(reader, Math.min(SILENT_MS, Math.max(0, untilMs - performance.now())));
  if (piece !== "late") return piece;
  reader.cancel().catch(() => {});
  throw new LateBody();
}
