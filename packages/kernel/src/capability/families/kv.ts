import { type Ask, bodyBytes } from "../ask.ts";
import type { Governed } from "../capability.ts";
import { defineFamily } from "../define-family.ts";
import type { Family } from "../family.ts";
import {
  capabilityLimits,
  count,
  type Field,
  isAmount,
  isFlag,
  isLiteral,
  isText,
  orAbsent,
  patterns,
} from "../fields.ts";
import { shownPattern } from "../shown-pattern.ts";
import { checkKey, checkKeyPattern, matchKey, touchesKey } from "../matching/kv-keys.ts";

declare module "../capability.ts" {
  interface CapabilityTypes {
    "kv.read": KeysCapability<"kv.read">;
    "kv.write": KeysCapability<"kv.write">;
  }
  interface EffectTypes {
    "kv.read": true;
    "kv.write": true;
  }
  interface RequestConditions {
    /** Prefixes of keys. A list of keys matches when it could show one that begins so. */
    readonly key?: readonly string[];
  }
  interface ToolLists {
    /** Prefixes of keys. */
    readonly keys?: Governed;
  }
  interface NeedTypes {
    "kv.read": KeyNeed<"kv.read">;
    "kv.write": KeyNeed<"kv.write">;
  }
}

type KeyKind = "kv.read" | "kv.write";

export interface KeysCapability<Kind extends KeyKind = KeyKind> {
  readonly kind: Kind;
  /** Prefixes of keys; `""` and `*` are every key. */
  readonly keys: readonly string[];
  /** Bytes per value. */
  readonly valueBytes?: number;
}

interface KeyNeed<Kind extends KeyKind> {
  readonly kind: Kind;
  /** A key, or for a list the prefix of all keys that it may show. */
  readonly key: string;
  readonly lists?: boolean;
  readonly bytes?: number;
}

export const kvRead: Family = /* @__PURE__ */ keyFamily("kv.read");

export const kvWrite: Family = /* @__PURE__ */ keyFamily("kv.write");

function keyFamily(kind: KeyKind): Family {
  const { schema, ...check } = patterns(checkKeyPattern);
  // The empty prefix is the widest.
  const items = { type: "string", maxLength: capabilityLimits.patternLength };
  const prefixes: Field<readonly string[]> = { schema: { ...schema, items }, ...check };
  return defineFamily<KeysCapability, KeyNeed<KeyKind>>({
    kind,
    title: kind === "kv.read" ? "Reads stored values" : "Changes stored values",
    effect: kind === "kv.read" ? "reads" : "changes",
    fields: { keys: prefixes, valueBytes: count },
    need: { key: isText, lists: orAbsent(isFlag), bytes: orAbsent(isAmount) },
    covers:
      ({ keys }) =>
      ({ key }) =>
        keys.some((pattern) => matchKey(pattern, key)),
    describe: ({ keys }) =>
      keys.map((key) => (key === "" || key === "*" ? "every key" : `${shownPattern(key)}…`)).join(", "),
    target,
    narrowest({ key, bytes }) {
      return key === "" ? undefined : { kind, keys: [key], ...(bytes !== undefined && { valueBytes: bytes }) };
    },
    isNarrow: ({ keys }) => isLiteral(keys) && !keys.includes(""),
    conditions: {
      key: {
        check: checkKeyPattern,
        touches: (patterns) => (need) => patterns.some((each) => touchesKey(each, need)),
        list: {
          name: "keys",
          covers:
            (patterns) =>
            ({ key }) =>
              patterns.some((each) => matchKey(each, key)),
          text: target,
        },
      },
    },
    targetArguments: {
      required: ["key"],
      needs({ key = "" }) {
        const fault = checkKey(key);
        return fault ? `The key is invalid: ${fault}.` : [{ kind, key }];
      },
    },
    isLocal: true,
    sample: ({ key = "example" }) => ({ kind, key }),
    limit: ({ valueBytes }) => valueBytes,
    size: ({ bytes }) => bytes,
  });
}

function target({ key, lists }: KeyNeed<KeyKind>): string {
  return lists ? `${key}*` : key;
}

export interface ToolKeys {
  /** `undefined` where there is no value. */
  readonly get: (key: string) => Promise<Uint8Array | undefined>;
  readonly put: (key: string, data: Uint8Array | string) => Promise<void>;
  readonly delete: (key: string) => Promise<void>;
  /** Sorted. `limit` is 100 by default; `next` is the `after` of the page that follows. */
  readonly list: (page?: {
    readonly prefix?: string;
    readonly limit?: number;
    readonly after?: string;
  }) => Promise<KeyPage>;
}

interface KeyPage {
  readonly keys: readonly string[];
  readonly next?: string;
}

/** The guest's half. */
export function keysGuest(ask: Ask): ToolKeys {
  const at = (key: string): { key: string } => ({ key: String(key) });
  return {
    async get(key) {
      const request = { kind: "kv.read", operation: "get", arguments: at(key) };
      const { value, body } = await ask<{ readonly found: boolean }>(request);
      return value.found ? (body ?? new Uint8Array()) : undefined;
    },
    async put(key, data) {
      await ask({ kind: "kv.write", operation: "put", arguments: at(key), body: bodyBytes(data) });
    },
    async delete(key) {
      await ask({ kind: "kv.write", operation: "delete", arguments: at(key) });
    },
    async list({ prefix = "", limit = 100, after } = {}) {
      const page = { prefix, limit, ...(after !== undefined && { after }) };
      return (await ask<KeyPage>({ kind: "kv.read", operation: "list", arguments: page })).value;
    },
  };
}
