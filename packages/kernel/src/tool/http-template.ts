import type { JsonObject, JsonValue } from "../json/json.ts";

/** Methods of a request that a template makes. */
export const httpMethods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;
export type HttpMethod = (typeof httpMethods)[number];

/**
 * The request that a tool of source `http` is, and what becomes of the reply. Data alone. A value in it can be a reference, `{ "$from": "SOURCE#POINTER" }`
 * (JSON Pointer, RFC 6901). A member whose reference names nothing is left out.
 */
export interface HttpTemplate {
  /** Default `GET`. Effects, tier (1 reads, 2 writes, 3 deletes) and `idempotent` follow from it. */
  readonly method?: HttpMethod;
  /**
   * A URI template (RFC 6570, level 3) over the properties of the input and, in the query, `secret.NAME`. The host is fixed, or its variables are enums of the input's
   * schema.
   */
  readonly url: string;
  /** Texts with `{property}` and `{secret.NAME}`. A header whose property is absent is not sent. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `{ json }`, `{ form }` or `{ text }`, with references such as `{ "$from": "input#/POINTER" }` and `{ "$from": "secret#/NAME" }`. Default: none. */
  readonly body?: HttpBody;
  /** By status (`404`), class (`4XX`) or `default`; the most exact one counts. Default: `2XX` gives the whole body, `null` for JSON without a body, and any other status is the error `HTTP_404`. */
  readonly responses?: Readonly<Record<string, HttpResponse>>;
}

export type HttpBody =
  | { readonly json: JsonValue }
  /** `application/x-www-form-urlencoded`; a list is sent as a repeated name. */
  | { readonly form: JsonObject }
  /** A text, or a reference to one. */
  | { readonly text: JsonValue };

/** References are to `body` (as JSON), `headers`, `status` and `input`. */
export type HttpResponse =
  | {
      /** Default: the body. */
      readonly output?: JsonValue;
      /** The reply's media type. Default: that of the tool's output, else JSON where JSON is read. */
      readonly mediaType?: string;
    }
  | {
      readonly error: {
        /** The `name` in the details of the `TOOL_ERROR`: capitals, digits and `_`. */
        readonly code: string;
        /** A text, or a reference to one. Default: host and status. */
        readonly message?: JsonValue;
        /** Whether it passes. Default: yes for 408, 425, 429, 502, 503 and 504. An idempotent tool then runs again. */
        readonly retryable?: boolean;
      };
    };

const anyValue: JsonObject = {};

/** JSON Schema (2020-12) of a template. Its texts are checked by the host that runs it. */
export const httpTemplateSchema: JsonObject = {
  type: "object",
  properties: {
    method: { enum: httpMethods },
    url: { type: "string", minLength: 1, maxLength: 4_096 },
    headers: { type: "object", additionalProperties: { type: "string", maxLength: 4_096 }, maxProperties: 50 },
    body: {
      type: "object",
      properties: { json: anyValue, form: { type: "object" }, text: anyValue },
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
    },
    responses: {
      type: "object",
      propertyNames: { pattern: "^([1-5](XX|\\d\\d)|default)$" },
      additionalProperties: {
        type: "object",
        properties: {
          output: anyValue,
          mediaType: { type: "string", minLength: 3, maxLength: 200 },
          error: {
            type: "object",
            properties: {
              code: { type: "string", pattern: "^[A-Z][A-Z0-9_]{0,63}$" },
              message: anyValue,
              retryable: { type: "boolean" },
            },
            required: ["code"],
            additionalProperties: false,
          },
        },
        dependentSchemas: { error: { not: { anyOf: [{ required: ["output"] }, { required: ["mediaType"] }] } } },
        additionalProperties: false,
      },
      maxProperties: 50,
    },
  },
  required: ["url"],
  additionalProperties: false,
};
