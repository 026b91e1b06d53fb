import * as limits from "../limits.ts";
import type { EventRecord } from "./record.ts";
import type { AuditSink } from "./sink.ts";

/** Of one piece of the log: some hundred events. */
const PIECE_BYTES = 65_536;

/** Some records one behind the other, a line each: the digest, then the body, which begins with `{` and has no line end in it. */
interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>;
  usedBytes: number;
  readonly firstSeq: number;
  events: number;
}

/**
 * Keeps the last `maxEvents` events; older ones are forgotten. As bytes, because texts that live for some thousand calls and are forgotten then are what
 * garbage collectors copy most: as texts, they cost a call a tenth of its time.
 */
export function memorySink(maxEvents: number = limits.memoryEvents): AuditSink {
  const pieces: Piece[] = [];
  let events = 0;
  /** Of the piece that was forgotten last: memory outside the heap that comes and goes makes the collector look through all of it. */
  let spare: Uint8Array<ArrayBuffer> | undefined;

  const pieceFor = (text: string, firstSeq: number): Piece => {
    const neededBytes = text.length * 3; // At most, as UTF-8.
    const last = pieces.at(-1);
    if (last && last.bytes.length - last.usedBytes >= neededBytes) return last;
    const bytes = spare && spare.length >= neededBytes ? spare : new Uint8Array(Math.max(neededBytes, PIECE_BYTES));
    spare = undefined;
    const piece: Piece = { bytes, usedBytes: 0, firstSeq, events: 0 };
    pieces.push(piece);
    return piece;
  };

  return {
    isVolatile: true,
    open: () => ({ last: pieces.slice(-1).flatMap(recordsOf).at(-1), cutBytes: 0, damage: null }),
    append(batch) {
      const [first] = batch;
      if (!first) return;
      let text = "";
      for (const { hash, body } of batch) text += hash + body + "\n";
      const piece = pieceFor(text, first.seq);
      piece.usedBytes += encoder.encodeInto(text, piece.bytes.subarray(piece.usedBytes)).written;
      piece.events += batch.length;
      events += batch.length;
      for (let [oldest] = pieces; oldest && events - oldest.events >= maxEvents; [oldest] = pieces) {
        pieces.shift();
        events -= oldest.events;
        spare = oldest.bytes;
      }
    },
    read(fromSeq, limit) {
      const [oldest] = pieces;
      if (!oldest) return [];
      const first = Math.max(fromSeq, oldest.firstSeq, oldest.firstSeq + events - maxEvents);
      const wanted = pieces.filter((piece) => piece.firstSeq + piece.events > first && piece.firstSeq < first + limit);
      const records = wanted.flatMap(recordsOf);
      return records.filter(({ seq }) => seq >= first).slice(0, limit);
    },
  };
}

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder();

function recordsOf({ bytes, usedBytes, firstSeq }: Piece): EventRecord[] {
  const lines = decoder.decode(bytes.subarray(0, usedBytes)).split("\n");
  return lines.slice(0, -1).map((line, i) => {
    const at = line.indexOf("{");
    return { seq: firstSeq + i, body: line.slice(at), hash: line.slice(0, at) };
  });
}
