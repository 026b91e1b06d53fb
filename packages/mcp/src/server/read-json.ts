export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly status: number; readonly code: number; readonly message: string };

/** Reads a body of at most so many bytes. Beyond, nothing more of it is taken. */
export async function readJson(request: Request, mostBytes: number): Promise<ReadJson> {
  const tooLarge = {
    ok: false,
    status: 413,
    code: -32_000,
    message: `A request has at most ${mostBytes} bytes.`,
  } as const;
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes) return tooLarge;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let byteLength = 0;
  try {
    for await (const chunk of request.body ?? []) {
      byteLength += chunk.byteLength;
      if (byteLength > mostBytes) return tooLarge;
      text += decoder.decode(chunk, { stream: true });
    }
    text += decoder.decode();
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false, status: 400, code: -32_700, message: "Parse error: the body is not JSON in UTF-8." };
  }
}
