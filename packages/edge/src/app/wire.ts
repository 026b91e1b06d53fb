import type { CallResult, CallSuccess, JsonValue } from "@keyhole/kernel";
import { encodeBase64 } from "@keyhole/kernel/foreign";

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
    ...(data instanceof Uint8Array ? { data: encodeBase64(data), encoding: "base64" } : { data }),
    ...(raw instanceof Uint8Array ? { raw: encodeBase64(raw), rawEncoding: "base64" } : raw !== undefined && { raw }),
  };
}
