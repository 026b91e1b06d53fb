import type { Families } from "../../capability/registry.ts";
import type { CallOptions } from "./call-options.ts";
import * as limits from "../../limits.ts";
import { absorb, membersOf } from "../../support/foreign.ts";
import { knownOptions, type OptionNames } from "../../json/known-options.ts";
import { unknownKey } from "../../support/unknown-key.ts";
import { deepFreeze } from "../../json/freeze.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../json/json.ts";
import { plainMembers } from "../../json/plain-members.ts";
import { snapshot } from "../../json/snapshot.ts";
import type { FaultText } from "../faults/fault-text.ts";
import * as texts from "../faults/texts.ts";

/** The members of a writer that the kernel uses. */
export type OwnWriter = Pick<WritableStreamDefaultWriter<Uint8Array>, "write" | "close" | "abort" | "closed">;

/** A caller's options, read once. With a fault none of them counts. */
export interface ReadOptions {
  readonly options: CallOptions;
  readonly fault?: FaultText;
  /**
   * The writer of {@link CallOptions.output}, which this call owns. Present with a fault, too,
   * because a reader may wait at its other end.
   */
  readonly output?: OwnWriter;
  /** Of {@link CallOptions.body}, likewise. */
  readonly body?: ReadableStreamDefaultReader<unknown>;
}

/** Every option, and its type where that says it all. */
const callOptions: OptionNames<CallOptions> = {
  version: "string",
  caller: "string",
  sessionId: "string",
  correlationId: "string",
  traceparent: true,
  grants: true,
  bounds: true,
  idempotencyKey: "string",
  cache: "boolean",
  raw: "boolean",
  references: "boolean",
  waitMs: 0,
  signal: true,
  approver: "function",
  nestedApprover: "function",
  output: true,
  body: true,
  onEvent: "function",
  onLog: "function",
  onProgress: "function",
};
const callOptionNames: readonly string[] = Object.keys(callOptions);
const typed = Object.entries(callOptions).flatMap(([name, type]) => (typeof type === "string" ? [{ name, type }] : []));

/** The options of a call that goes to another kernel. @throws TypeError for an unknown one, and for one of a wrong type */
export function knownCallOptions(given: CallOptions, owner: string): CallOptions {
  return knownOptions(given, callOptions, owner);
}

/** @param names the known options. Any other is refused: an ignored option would narrow nothing */
export function readOptions(
  foreign: unknown,
  families: Families,
  names: readonly string[] = callOptionNames,
): ReadOptions {
  try {
    const options = plainMembers(foreign);
    if (!options) return refused(texts.wrongOption.object);
    const { output, body } = options;
    const unknown = unknownKey(options, names);
    const read = unknown === undefined ? readPlain(options, families) : refused(texts.unknownOption(unknown, names));
    return output === undefined && body === undefined ? read : { ...read, ...readOutput(output), ...readBody(body) };
  } catch {
    return refused(texts.wrongOption.unread);
  }
}

/** Locks the stream immediately: no other code writes to it from here on. */
function readOutput(output: unknown): Pick<ReadOptions, "output" | "fault"> {
  if (output === undefined) return {};
  try {
    const writer = (output as WritableStream<Uint8Array>).getWriter();
    absorb(writer);
    const { write, close, abort, closed, ready } = writer;
    const { then } = closed;
    absorb(ready);
    if ([write, close, abort, then].every((each) => typeof each === "function")) {
      const bound = { write: write.bind(writer), close: close.bind(writer), abort: abort.bind(writer) };
      const ended = new Promise<undefined>(
        (resolve, reject) => void then.call(closed, () => resolve(undefined), reject),
      );
      // A refused call never waits for it, and an unhandled rejection would end the embedder's process.
      ended.catch(() => undefined);
      return { output: { ...bound, closed: ended } };
    }
  } catch {
    // It is no refusal, or another party made it.
  }
  return { fault: texts.wrongOption.output };
}

function readBody(body: unknown): Pick<ReadOptions, "body" | "fault"> {
  if (body === undefined) return {};
  try {
    const reader = (body as ReadableStream<unknown>).getReader();
    absorb(reader);
    absorb(reader.closed);
    if (typeof reader.read === "function" && typeof reader.cancel === "function") return { body: reader };
  } catch {
    // Likewise.
  }
  return { fault: texts.wrongOption.body };
}

function readPlain(options: Record<string, unknown>, families: Families): ReadOptions {
  const wrong = typed.find(({ name, type }) => options[name] !== undefined && typeof options[name] !== type);
  if (wrong) return refused(texts.wrongType(wrong.name, wrong.type));
  if (!isWait(options["waitMs"])) return refused(texts.wrongOption.waitMs);
  if (!isKey(options["idempotencyKey"])) return refused(texts.wrongOption.key);
  if (options["signal"] !== undefined && !isSignal(options["signal"])) return refused(texts.wrongOption.signal);
  const { bounds, grants } = options;
  if (bounds === undefined && grants === undefined) return { options };
  const { values, characters } = limits.declaration;
  const plain = snapshot({ bounds, grants }, { maxNodes: values, maxStringUnits: characters });
  if (!plain.ok) return refused(texts.notPlainOptions(plain.error));
  const own = deepFreeze(plain.value) as JsonObject;
  const fault = own["bounds"] === undefined ? undefined : boundsFault(own["bounds"]);
  if (fault) return { options: {}, fault };
  const read = own["grants"] === undefined ? [] : families.read(own["grants"]);
  return typeof read === "string" ? refused(texts.wrongGrants(read)) : { options: { ...options, ...own } };
}

function boundsFault(bounds: JsonValue): FaultText | undefined {
  if (!isJsonObject(bounds)) return texts.wrongOption.bounds;
  const unknown = unknownKey(bounds, Object.keys(limits.ceilings));
  if (unknown !== undefined) return texts.unknownBound(unknown);
  for (const [name, ceiling] of Object.entries(limits.ceilings)) {
    const wish = bounds[name];
    // None at all is a wish as well where nothing is meant to go over the network.
    const least = name.startsWith("network") ? 0 : 1;
    if (wish !== undefined && !isIntegerIn(wish, least, ceiling)) return texts.wrongBound(name, least, ceiling);
  }
  return undefined;
}

function isIntegerIn(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

/** Never cut: two different keys must not become one. */
function isKey(value: unknown): boolean {
  return value === undefined || (typeof value === "string" && value !== "" && value.length <= limits.nameLength);
}

function isWait(value: unknown): boolean {
  return value === undefined || isIntegerIn(value, 0, limits.longestWaitMs);
}

/** By what is used of it: signals of other realms and libraries are signals too. */
function isSignal(value: unknown): boolean {
  const signal = value as Partial<AbortSignal> | null;
  return (
    typeof signal === "object" &&
    typeof signal?.aborted === "boolean" &&
    typeof signal.addEventListener === "function" &&
    typeof signal.removeEventListener === "function"
  );
}

function refused(fault: FaultText): ReadOptions {
  return { options: {}, fault };
}

/**
 * The tool that a caller names by text or by package. A package names exactly its version. Any
 * other value names no tool.
 */
export function readTool(foreign: unknown): { readonly name: string; readonly pinned?: string } {
  if (typeof foreign === "string") return { name: foreign };
  try {
    const { manifest } = membersOf(foreign);
    const { name, version } = membersOf(manifest);
    if (typeof name === "string" && typeof version === "string") return { name, pinned: version };
  } catch {
    // It is unreadable, so it names nothing.
  }
  return { name: "" };
}
