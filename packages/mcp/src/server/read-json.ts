import { boundedBody, LateBody } from "../bounded-body.ts";
import { parseMessage } from "../message.ts";

export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly status: number; readonly code: number; readonly message: string };

const notJson = {
  ok: false,
  status: 400,
  code: -32_700,
  message: "Parse error: the body is not JSON in UTF-8.",
} as const;

/** Reads a body of at most so many bytes. Beyond, or after 30 s, or 10 s of silence, the server reads no more. It counts the values in the text, before a parser builds them. */
export async function readJson(request: Request, mostBytes: number): Promise<ReadJson> {
  const tooLarge = {
    ok: false,
    status: 413,
    code: -32_000,
    message: `A request has at most ${mostBytes} bytes.`,
  } as const;
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes) return tooLarge;
  let text;
  try {
    const bytes = await boundedBody(request, mostBytes);
    if (!bytes) return tooLarge;
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch (error) {
    if (error instanceof LateBody) return { ok: false, status: 408, code: -32_000, message: error.message };
    return notJson;
  }
  const parsed = parseMessage(text, mostBytes);
  if (parsed.ok) return parsed;
  if (parsed.reason === "syntax") return notJson;
  return { ok: false, status: 400, code: -32_600, message: `The message is unreadable: ${parsed.reason}.` };
}
