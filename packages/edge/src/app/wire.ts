import type { CallResult, CallSuccess, JsonValue } from "@keyhole/kernel";

/** A result as JSON carries it: bytes become base64 (RFC 4648, 4). `encoding` and `rawEncoding` mark them. */
export type WireResult =
  | Exclude<CallResult, { ok: true }>
  | (Omit<CallSuccess, "data" | "raw"> & {
      readonly data: JsonValue;
      readonly encoding?: "base64";
      readonly raw?: JsonValue;
      readonly rawEncoding?: "base64";
    });

export function wireResult(result: CallResult): WireResult {
  if (!result.ok) return result;
  const { data, raw, ...rest } = result;
  return {
    ...rest,
    ...(data instanceof Uint8Array ? { data: base64(data), encoding: "base64" } : { data }),
    ...(raw instanceof Uint8Array ? { raw: base64(raw), rawEncoding: "base64" } : raw !== undefined && { raw }),
  };
}

/** As many arguments as every engine takes in one call. */
const chunkBytes = 8192;

/** RFC 4648, 4. */
export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let i = 0; i < bytes.length; i += chunkBytes)
    binary += String.fromCharCode(...bytes.subarray(i, i + chunkBytes));
  return btoa(binary);
}
