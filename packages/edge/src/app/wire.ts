import type { CallResult, CallSuccess, JsonValue } from "@keyhole/kernel";

/** A result as JSON carries it: bytes become base64 (RFC 4648, 4), and `encoding` says so. */
export type WireResult =
  | Exclude<CallResult, { ok: true }>
  | (Omit<CallSuccess, "data"> & { readonly data: JsonValue; readonly encoding?: "base64" });

export function wireResult(result: CallResult): WireResult {
  if (!result.ok) return result;
  const { data } = result;
  return data instanceof Uint8Array ? { ...result, data: base64(data), encoding: "base64" } : { ...result, data };
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
