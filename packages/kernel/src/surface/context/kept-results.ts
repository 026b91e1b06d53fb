import { encodeBase64 } from "../../bytes/base64.ts";
import type { JsonValue } from "../../json/json.ts";
import { placeOf } from "./find-bytes.ts";
import { byteLength, characterStart, longestPiece } from "./fit-text.ts";

/** The name under which a model reads on in an output that was cut. */
export const readResultName = "read_result";

const encoder = /* @__PURE__ */ new TextEncoder();

/** Smaller answers have no room for a digest and a beginning. */
export const leastAnswerBytes = 512;

/** An output, for a model to read. */
export interface ReadableOutput {
  readonly data: JsonValue | Uint8Array;
  /** Digest of the output. */
  readonly hash: string;
  readonly mediaType?: string | undefined;
}

/** A part of an output that a model asks for. */
export interface ResultPart {
  readonly hash: string;
  /** In bytes of the output's UTF-8, or of the output where it is no text. */
  readonly offset: number;
  /** The part begins where this text stands, at or after `offset`. */
  readonly find?: string;
}

/** The program's part beside a kept output. */
export interface KeptSource {
  /** That it holds. They count as the output's own. */
  readonly bytes: number;
}

interface Kept<Source> {
  readonly content: Uint8Array;
  readonly isText: boolean;
  readonly source: Source;
}

export interface KeptLimits {
  /** Of all outputs and their sources together. A larger one is not kept. */
  readonly bytes: number;
  readonly results: number;
}

/**
 * Outputs that were too long for their answer, so that their model can read further: in memory, the oldest go first. One instance serves one agent. `Source` is the program's own: what it
 * needs to decide whether the agent can still read.
 */
export class KeptResults<Source extends KeptSource> {
  readonly #limits: KeptLimits;
  readonly #kept = new Map<string, Kept<Source>>();
  #bytes = 0;

  constructor(limits: KeptLimits = { bytes: 16_777_216, results: 100 }) {
    this.#limits = limits;
  }

  /**
   * The text of an output for a model, in at most `limitBytes` of UTF-8: text as it is, JSON as JSON, bytes in base64. Of a longer one: the digest, the beginning, and how to read
   * on.
   *
   * @param limitBytes at least {@link leastAnswerBytes}
   * @example
   * const text = kept.textOf({ data: result.data, hash: result.hash }, 8_192, { callId: result.callId, bytes: 36 });
   */
  textOf({ data, hash, mediaType }: ReadableOutput, limitBytes: number, source: Source): string {
    if (data instanceof Uint8Array) {
      const type = mediaType ?? "application/octet-stream";
      const described = { mediaType: type, byteLength: data.length, hash };
      if (data.length <= limitBytes) {
        const text = JSON.stringify({ ...described, base64: encodeBase64(data) });
        if (byteLength(text) <= limitBytes) return text;
      }
      const isKept = this.#keep(hash, { content: data, isText: false, source });
      return JSON.stringify({ ...described, ...(isKept && { more: readResultName, next: 0 }) });
    }
    const text = typeof data === "string" ? data : JSON.stringify(data);
    // No text has fewer bytes than UTF-16 units.
    if (text.length <= limitBytes && byteLength(text) <= limitBytes) return text;
    const content = encoder.encode(text);
    const isKept = this.#keep(hash, { content, isText: true, source });
    return longestPiece(content, 0, limitBytes, undefined, ({ piece, end }) =>
      JSON.stringify({
        truncated: true,
        byteLength: content.length,
        hash,
        ...(isKept && { more: readResultName, next: end }),
        beginning: piece,
      }),
    );
  }

  /** The argument that {@link textOf} got with the output; `undefined` where the store has no output of this digest. */
  sourceOf(hash: string): Source | undefined {
    return this.#kept.get(hash)?.source;
  }

  /** A part of a kept output as JSON text, in at most `limitBytes`; `undefined` where no output of this digest is kept. */
  read({ hash, offset, find }: ResultPart, limitBytes: number): string | undefined {
    const kept = this.#kept.get(hash);
    if (!kept) return undefined;
    const { content, isText } = kept;
    const found = find === undefined ? offset : placeOf(content, encoder.encode(find), offset);
    const common = { hash, byteLength: content.length };
    if (found === undefined) return JSON.stringify({ ...common, found: false });
    const start = isText ? characterStart(content, found) : Math.min(found, content.length);
    const encode = isText ? undefined : encodeBase64;
    return longestPiece(content, start, limitBytes, encode, ({ piece, end }) =>
      JSON.stringify({
        ...common,
        offset: start,
        next: end < content.length ? end : null,
        [isText ? "text" : "base64"]: piece,
      }),
    );
  }

  #keep(hash: string, kept: Kept<Source>): boolean {
    const { bytes, results } = this.#limits;
    if (bytesOf(kept) > bytes) return false;
    this.#drop(hash);
    this.#kept.set(hash, kept);
    this.#bytes += bytesOf(kept);
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= bytes && this.#kept.size <= results) break;
      this.#drop(oldest);
    }
    return true;
  }

  #drop(hash: string): void {
    const kept = this.#kept.get(hash);
    if (kept) this.#bytes -= bytesOf(kept);
    this.#kept.delete(hash);
  }
}

function bytesOf({ content, source }: Kept<KeptSource>): number {
  return content.length + source.bytes;
}
