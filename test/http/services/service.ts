import type { JsonObject, ToolPackage } from "@keyhole/kernel";
import { httpPackage } from "@keyhole/worker-host/http";

/** A public API, as far as its public description says what one of its requests looks like. */
export interface Service {
  readonly tool: (origin: string) => ToolPackage;
  readonly input: JsonObject;
  /** Never reaches the server. */
  readonly invalid: JsonObject;
  /** What the server gets, as `METHOD /path?query` and the body. */
  readonly request: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly answer: () => Response;
  readonly data: unknown;
  readonly failure: () => Response;
  /** The name of the error, and its message. */
  readonly error: readonly [name: string, message: string];
}

const bounds = { networkBytes: 65_536, networkRequests: 4 };
type Definition = Parameters<typeof httpPackage>[0];

export function tool(definition: Omit<Definition, "version" | "description">): ToolPackage {
  return httpPackage({
    version: "1.0.0",
    description: "Models a public API.",
    bounds,
    ...definition,
  });
}

export const object = (properties: JsonObject, required = Object.keys(properties)): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
export const text = { type: "string" } as const;
export const number = { type: "number" } as const;
export const list = (items: JsonObject): JsonObject => ({ type: "array", items });
export const as = (schema: JsonObject) => ({ kind: "json", schema }) as const;

/** The value of the secret `token`, which nobody sees. */
export const token = "0123456789abcdef";
