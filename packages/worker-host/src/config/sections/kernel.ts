import { errorCodes, type JsonObject, modes } from "@keyhole/kernel";

const amount: JsonObject = { type: "number", exclusiveMinimum: 0 };

/** When the mode changes by itself. */
export const modeTriggersSection: JsonObject = {
  type: "array",
  maxItems: 100,
  items: {
    oneOf: [
      trigger("errors", { codes: { type: "array", items: { enum: errorCodes } }, count: amount, windowMs: amount }),
      trigger("failure-rate", { ratio: { ...amount, maximum: 1 }, minCalls: amount, windowMs: amount }),
      trigger("space", { freeBytes: amount }, []),
      trigger("memory", { freeBytes: amount }),
      trigger("backlog", { events: amount }),
    ],
  },
};

function trigger(on: string, properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return {
    type: "object",
    properties: { on: { const: on }, to: { enum: modes }, ...properties },
    required: ["on", "to", ...required],
    additionalProperties: false,
  };
}

const path: JsonObject = { type: "string", minLength: 1, maxLength: 4_096 };
const paths: JsonObject = { type: "object", additionalProperties: path };

/** Where the log is. */
export const sinkSection: JsonObject = {
  type: "object",
  properties: { file: path, fsync: { enum: ["batch", "second", "never"] } },
  required: ["file"],
  additionalProperties: false,
};

export interface SinkEntry {
  readonly file: string;
  readonly fsync?: "batch" | "second" | "never";
}

/** The places that brokers serve. Commands are programs of the host, by absolute paths. */
export const brokersSection: JsonObject = {
  type: "object",
  properties: { files: path, values: path, databases: paths, commands: paths },
  additionalProperties: false,
};

export interface BrokersEntry {
  readonly files?: string;
  readonly values?: string;
  readonly databases?: Readonly<Record<string, string>>;
  readonly commands?: Readonly<Record<string, string>>;
}

/** The environment variable that holds each secret. A configuration holds no value. */
export const secretsSection: JsonObject = {
  type: "object",
  propertyNames: { pattern: "^[A-Za-z0-9_-]{1,64}$" },
  additionalProperties: {
    type: "object",
    properties: { env: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]*$" } },
    required: ["env"],
    additionalProperties: false,
  },
};

export type SecretsEntry = Readonly<Record<string, { readonly env: string }>>;

/** Files, folders and packages of tools, relative to the configuration. */
export const toolsSection: JsonObject = { type: "array", items: path, maxItems: 1_000, uniqueItems: true };
