import { attempt } from "../attempt.ts";
import { spend } from "../budget.ts";
import type { Check, JsonObject } from "../types.ts";

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

const isJson = (text: string): boolean => attempt((): unknown => JSON.parse(text)) !== undefined;

/** `contentEncoding` and `contentMediaType`, which draft 7 lets a validator assert: base64 and JSON. Later drafts only annotate. */
export function content(schema: JsonObject): Check | undefined {
  const base64 = schema["contentEncoding"] === "base64";
  const json = schema["contentMediaType"] === "application/json";
  if (!base64 && !json) return undefined;
  return (value) => {
    if (typeof value !== "string") return true;
    spend(1 + (value.length >> (json ? 2 : 4)));
    if (!base64) return isJson(value);
    // This reads the bytes as Latin-1: outside strings JSON is ASCII, so whether they are JSON does not change.
    return value.length % 4 === 0 && BASE64.test(value) && (!json || isJson(atob(value)));
  };
}
