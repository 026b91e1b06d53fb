import { type JsonObject, type Tier, toolNamePattern } from "@keyhole/kernel";

const name: JsonObject = { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" };
const text: JsonObject = { type: "string", minLength: 1, maxLength: 256 };

/** A configuration holds no value of a secret. */
interface FromEnvironment {
  readonly env: string;
}

const fromEnvironment = (holds: string): JsonObject => ({
  type: "object",
  description: `The environment variable that holds ${holds}.`,
  properties: { env: { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]*$" } },
  required: ["env"],
  additionalProperties: false,
});

const sealingKey = fromEnvironment("a key of 32 bytes, as 64 hexadecimal digits");

interface SealingEntry {
  readonly id: string;
  readonly key: FromEnvironment;
}

/** The server, the tools that are offered there, and those that are called. */
export interface BusEntry {
  readonly servers: readonly string[];
  readonly user?: string;
  readonly password?: FromEnvironment;
  readonly token?: FromEnvironment;
  readonly prefix?: string;
  readonly serve?: {
    readonly everyone?: string;
    readonly sealed?: readonly (SealingEntry & { readonly caller: string })[];
    readonly tools?: readonly string[];
    readonly keys?: { readonly index: number; readonly of: number };
  };
  readonly sources?: Readonly<Record<string, BusSourceEntry>>;
}

export interface BusSourceEntry {
  readonly expect: readonly string[];
  readonly tiers?: Readonly<Record<string, Tier>>;
  readonly credential?: SealingEntry;
}

const toolNames: JsonObject = {
  type: "array",
  items: { type: "string", pattern: toolNamePattern },
  maxItems: 1_000,
  uniqueItems: true,
};

const serve: JsonObject = {
  type: "object",
  description: "Offers tools of this kernel.",
  properties: {
    everyone: { ...text, description: "The caller that all senders count as." },
    sealed: {
      type: "array",
      description: "The callers that share a key with this kernel.",
      minItems: 1,
      maxItems: 1_000,
      items: {
        type: "object",
        properties: { id: name, key: sealingKey, caller: text },
        required: ["id", "key", "caller"],
        additionalProperties: false,
      },
    },
    tools: { ...toolNames, description: "Default: all that do not come from a bus." },
    keys: {
      type: "object",
      description: "The idempotency keys that this kernel owns: number `index`, from 0, of `of` kernels.",
      properties: {
        index: { type: "integer", minimum: 0, maximum: 63 },
        of: { type: "integer", minimum: 1, maximum: 64 },
      },
      required: ["index", "of"],
      additionalProperties: false,
    },
  },
  // The set of callers is never open.
  oneOf: [{ required: ["everyone"] }, { required: ["sealed"] }],
  additionalProperties: false,
};

const source: JsonObject = {
  type: "object",
  properties: {
    expect: { ...toolNames, minItems: 1, description: "The tools that have to be there." },
    tiers: {
      type: "object",
      description: "By the name of a tool. Default: that of its definition, and at least 2.",
      additionalProperties: { enum: [0, 1, 2, 3, 4] },
    },
    credential: {
      type: "object",
      description: "Seals requests, and requires sealed answers.",
      properties: { id: name, key: sealingKey },
      required: ["id", "key"],
      additionalProperties: false,
    },
  },
  required: ["expect"],
  additionalProperties: false,
};

export const busSection: JsonObject = {
  type: "object",
  properties: {
    servers: {
      type: "array",
      description: "Servers of NATS. A Worker needs `ws` or `wss`.",
      items: { type: "string", pattern: "^(?:nats|tls|wss?)://[^\\s@]+$", maxLength: 512 },
      minItems: 1,
      maxItems: 16,
    },
    user: text,
    password: fromEnvironment("the password of the user"),
    token: fromEnvironment("the token for the server"),
    prefix: { ...text, description: "Begins all subjects. Default: keyhole.tool." },
    serve,
    sources: {
      type: "object",
      description: "Tools of other kernels, by the name that begins theirs here.",
      propertyNames: { pattern: "^[a-z0-9]{1,20}$" },
      additionalProperties: source,
    },
  },
  required: ["servers"],
  additionalProperties: false,
};

/** The names that the tools of a bus have in this kernel, with the path of each. */
export function busTools({ sources = {} }: Partial<BusEntry> = {}): ReadonlyMap<string, readonly string[]> {
  const entries = Object.entries(sources).flatMap(([own, { expect }]) =>
    expect.map((tool) => [`${own}_${tool}`, ["bus", "sources", own]] as const),
  );
  return new Map(entries);
}
