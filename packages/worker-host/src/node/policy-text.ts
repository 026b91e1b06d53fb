import { pointerTokens } from "@keyhole/kernel";
import type { JsonValue } from "@keyhole/kernel";
import { jsonTextFault } from "@keyhole/kernel/foreign";
import { locator, type Position } from "@keyhole/kernel/policy";
import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLParseError,
  type YAMLWarning,
} from "yaml";
import { readBoundedText } from "./bounded-file.ts";

export { readBoundedFile, readBoundedText } from "./bounded-file.ts";

export interface PolicyText {
  /** For `createKernel`, `kernel.setPolicy` and `policy`, which check it. */
  readonly document: JsonValue;
  /** Where a JSON Pointer of a refusal leads in the text. */
  locate(pointer: string): Position;
  /** The same, and of a member its key. */
  locateMember(pointer: string): Position;
}

export type PolicyTextRead =
  | { readonly ok: true; readonly value: PolicyText }
  | { readonly ok: false; readonly message: string; readonly at: Position };

/** UTF-16 units that the reader of YAML is given: it takes 50 times as long as that of JSON. A person writes less. */
const mostLength = 1_048_576;

/**
 * Reads the text of a policy: JSON, or YAML 1.2 with nothing that JSON does not have. Refuses
 * anchors, aliases, tags and merge keys: a person reads exactly the policy, and no text is larger
 * than it looks. Refuses duplicate keys in both.
 *
 * @param format default: JSON where the text begins with a brace
 * @param noun the name of the document in a refusal
 */
export function parsePolicyText(
  given: string,
  format: "json" | "yaml" = given.trimStart().startsWith("{") ? "json" : "yaml",
  noun = "policy",
): PolicyTextRead {
  // Editors write a byte order mark; it is no part of the text (RFC 8259, 8.1).
  const text = given.replace(/^\ufeff/, "");
  if (format === "json") return readJson(text, noun);
  const start = { line: 1, column: 1 };
  if (text.length > mostLength)
    return { ok: false, message: `A ${noun} in YAML has at most ${mostLength} characters.`, at: start };
  try {
    return readYaml(text, noun);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { ok: false, message: tooDeep(noun), at: start };
  }
}

function readJson(text: string, noun: string): PolicyTextRead {
  const fault = jsonTextFault(text, "any", noun);
  if (fault) return { ok: false, message: fault.message, at: { line: fault.line, column: fault.column } };
  const locate = locator(text);
  return { ok: true, value: { document: JSON.parse(text) as JsonValue, locate, locateMember: locate } };
}

/** Parsers call themselves for each level. */
const tooDeep = (noun: string): string => `The ${noun} nests too deeply.`;

/** @throws RangeError for a text that nests too deeply */
function readYaml(text: string, noun: string): PolicyTextRead {
  const lines = new LineCounter();
  const parsed = parseDocument(text, {
    version: "1.2",
    schema: "core",
    lineCounter: lines,
    // Both compare each part with all others, and a foreign text can have many.
    uniqueKeys: false,
    prettyErrors: false,
  });
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const refused = (message: string, offset: number): PolicyTextRead => ({ ok: false, message, at: at(offset) });

  const [error] = [...parsed.errors, ...parsed.warnings];
  if (error) return refused(messageOf(error, noun), error.pos[0]);
  const twice = repeatedKey(parsed);
  if (twice !== undefined) return refused("Map keys must be unique.", twice);
  let stray: { readonly what: string; readonly offset: number } | undefined;
  visit(parsed, {
    Alias: (_, { range }) => void (stray ??= { what: "An alias", offset: range?.[0] ?? 0 }),
    Pair: (_, { key }) => {
      if (isScalar(key) && typeof key.value === "string") return;
      stray ??= { what: "A key that is not a string", offset: isNode(key) ? (key.range?.[0] ?? 0) : 0 };
    },
    Node: (_, node) => {
      if ("anchor" in node && node.anchor !== undefined) stray ??= { what: "An anchor", offset: node.range?.[0] ?? 0 };
      if (node.tag !== undefined) stray ??= { what: "A tag", offset: node.range?.[0] ?? 0 };
    },
  });
  if (stray) return refused(`${stray.what} is not part of a ${noun}. Write the value out.`, stray.offset);
  return {
    ok: true,
    value: {
      document: parsed.toJS() as JsonValue,
      locate: (pointer) => at(offsetOf(parsed, pointer)),
      locateMember: (pointer) => at(keyOffsetOf(parsed, pointer)),
    },
  };
}

/** The offset of the first key that stands twice in its map. */
function repeatedKey(parsed: ReturnType<typeof parseDocument>): number | undefined {
  let offset: number | undefined;
  visit(parsed, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          offset = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return offset;
}

/** Where a policy is a file. Rejects as `node:fs` does when it cannot be read. */
export async function readPolicyFile(path: string): Promise<PolicyTextRead> {
  return parsePolicyText(await readBoundedText(path), /\.ya?ml$/i.test(path) ? "yaml" : undefined);
}

/** Without the excerpt that follows it, and in our words. */
function messageOf({ code, message }: YAMLParseError | YAMLWarning, noun: string): string {
  if (code === "MULTIPLE_DOCS") return `A ${noun} is one document.`;
  if (message.startsWith("Maximum call stack")) return tooDeep(noun);
  return /[.!]$/.test(message) ? message : `${message}.`;
}

/** Of the key of a member, as far as the document goes with the pointer. */
function keyOffsetOf(parsed: ReturnType<typeof parseDocument>, pointer: string): number {
  let node: unknown = parsed.contents;
  let offset = 0;
  for (const token of pointerTokens(pointer)) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === token);
      if (!pair) return offset;
      if (isNode(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(token)];
      if (isNode(node)) offset = node.range?.[0] ?? offset;
    } else return offset;
  }
  return offset;
}

/** As far as the document goes with the pointer. */
function offsetOf(parsed: ReturnType<typeof parseDocument>, pointer: string): number {
  const tokens = pointerTokens(pointer);
  for (let depth = tokens.length; depth >= 0; depth--) {
    const path = tokens.slice(0, depth).map((token) => (/^(?:0|[1-9]\d*)$/.test(token) ? Number(token) : token));
    const node: unknown = depth === 0 ? parsed.contents : parsed.getIn(path, true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
