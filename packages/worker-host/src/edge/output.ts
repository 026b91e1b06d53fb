import { blake3Hash, type CallResult, defaultBounds, type Hash, type ToolSummary } from "@keyhole/kernel";
import { sha256Hash } from "@keyhole/kernel/sha256";
import { membersOf } from "@keyhole/kernel/foreign";
import { mostOfEdge } from "./bounds.ts";
import { EdgeFault } from "./fault.ts";

/**
 * The streamed output of a tool, as an edge sends it. An edge can send anything, without end. So
 * the client counts and hashes the bytes, and accepts them as complete only if the result names
 * them. Every fault is a {@link EdgeFault}; the bytes before it are unusable.
 */
export class EdgeOutput {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #hasher: ReturnType<Hash["hasher"]>;
  readonly #limitBytes: number;
  #byteLength = 0;

  /** @param tool as the edge lists it, with its bound */
  constructor(output: WritableStream<Uint8Array>, tool: ToolSummary) {
    this.#writer = output.getWriter();
    this.#hasher = hashOf(tool).hasher();
    this.#limitBytes = Math.min(tool.manifest.bounds.outputBytes ?? defaultBounds.outputBytes, mostOfEdge.outputBytes);
  }

  /** Resolves when the caller has them: until then nothing more is read, and the tool waits. */
  async take(bytes: Uint8Array): Promise<void> {
    this.#byteLength += bytes.length;
    if (this.#byteLength > this.#limitBytes)
      throw untrue(
        "The edge sent more bytes than this client takes of the tool.",
        `It takes ${this.#limitBytes} bytes.`,
      );
    this.#hasher.update(bytes);
    await this.#writer.write(bytes);
  }

  /** As a kernel ends the caller's stream: whole only with the bytes of the result. */
  async settle(result: CallResult | undefined): Promise<void> {
    try {
      if (result?.ok && !result.meta.cached) await this.#writer.close();
      else
        await this.#writer.abort(new Error(result?.ok === false ? result.error.message : "The answer has no bytes."));
    } catch {
      // The other end belongs to the caller.
    }
  }

  /** Of a call that has its result. The result of an idempotency key has no bytes. */
  end(result: CallResult): void {
    if (!result.ok || (result.meta.cached && this.#byteLength === 0)) return;
    const { digest, byteLength } = membersOf(result.data);
    const own = this.#hasher.digest();
    const isWhole = byteLength === this.#byteLength && digest === own && result.hash === own;
    if (!isWhole) throw untrue(otherBytes, `${this.#byteLength} bytes came, with the digest ${own}.`);
  }
}

/** Of bytes that came within the result: they are what its hash says. */
export function checkBytes(result: CallResult, tool: ToolSummary): void {
  if (!result.ok || !(result.data instanceof Uint8Array)) return;
  const own = hashOf(tool).bytes(result.data);
  if (result.hash !== own) throw untrue(otherBytes, `${result.data.length} bytes came, with the digest ${own}.`);
}

const otherBytes = "The edge sent other bytes than its result names.";

/** A kernel has one algorithm for all that it hashes. */
function hashOf({ hash }: ToolSummary): Hash {
  return hash.startsWith("sha256:") ? sha256Hash : blake3Hash;
}

function untrue(message: string, seen: string): EdgeFault {
  return new EdgeFault("EDGE_UNTRUE", message, `${seen} The client drops them: the tool can have given other bytes.`);
}
