import type { BodyFault, BodyReader } from "@keyhole/kernel/foreign";
import { parseMessage, type RequestId } from "../message.ts";

export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly status: number;
      readonly code: number;
      readonly message: string;
      readonly id?: RequestId | null;
    };

const statuses = { "too-large": 413, late: 408, busy: 429, broken: 400 } as const satisfies Record<
  BodyFault["reason"],
  number
>;

const notJson = {
  ok: false,
  status: 400,
  code: -32_700,
  message: "Parse error: the body is not JSON in UTF-8.",
} as const;

/** Reads a body of at most so many bytes. Beyond, or where it is late, the server reads no more. It counts the values in the text, before a parser builds them. */
export async function readJson(
  bodies: BodyReader,
  sender: string,
  { body }: Request,
  mostBytes: number,
): Promise<ReadJson> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
  try {
    const read = await bodies.read(sender, reader, mostBytes, (bytes) => {
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
      return parseMessage(text, mostBytes);
    });
    if (!read.ok) {
      reader?.cancel().catch(() => {});
      return { ok: false, status: statuses[read.reason], code: -32_000, message: read.message };
    }
    const { value: parsed } = read;
    if (parsed.ok) return parsed;
    if (parsed.reason === "syntax") return notJson;
    const { reason, id = null } = parsed;
    return { ok: false, status: 400, code: -32_600, message: `The message is unreadable: ${reason}.`, id };
  } catch {
    return notJson;
  }
}
