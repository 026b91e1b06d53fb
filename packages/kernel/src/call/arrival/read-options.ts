import type { Families } from "../../capability/registry.ts";
import type { CallOptions, ResumeOptions } from "./call-options.ts";
import * as limits from "../../limits.ts";
import { absorb, type Foreign, membersOf, type Theirs } from "../../support/foreign.ts";
import { deepFreeze } from "../../json/freeze.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../json/json.ts";
import { snapshot } from "../../json/snapshot.ts";
import { unknownName } from "../../tool/nearest.ts";

/** The fault of a caller's options. */
export interface InvalidOption {
  /** One sentence for the caller. */
  readonly message: string;
  readonly hint?: string;
}

/** A caller's options as the kernel has them: its own data, and functions whose answers are foreign. */
export type OwnOptions = Omit<CallOptions, keyof Callbacks> & Theirs<Callbacks>;

/** The options that are functions. */
type Callbacks = Pick<CallOptions, "approver" | "nestedApprover" | "onEvent" | "onLog" | "onProgress">;

/** The options of a resumed call. */
export type OwnResumeOptions = Pick<OwnOptions, keyof ResumeOptions>;

/** The members of a writer that the kernel uses. */
export type OwnWriter = Pick<WritableStreamDefaultWriter<Uint8Array>, "write" | "close" | "abort" | "closed">;

/** A caller's options, read once. With a fault none of them counts. */
export interface ReadOptions {
  readonly options: OwnOptions;
  readonly fault?: InvalidOption;
  /**
   * The writer of {@link CallOptions.output}, which this call owns. Present with a fault, too,
   * because a reader may wait at its other end.
   */
  readonly output?: OwnWriter;
  /** Of {@link CallOptions.body}, likewise. */
  readonly body?: ReadableStreamDefaultReader<unknown>;
}

/** Every option, and its type where that says it all. */
const options = {
  version: "text",
  caller: "text",
  sessionId: "text",
  correlationId: "text",
  traceparent: undefined,
  grants: undefined,
  bounds: undefined,
  idempotencyKey: "text",
  cache: "flag",
  raw: "flag",
  references: "flag",
  waitMs: undefined,
  signal: undefined,
  approver: "function",
  nestedApprover: "function",
  output: undefined,
  body: undefined,
  onEvent: "function",
  onLog: "function",
  onProgress: "function",
} as const satisfies Record<keyof CallOptions, "text" | "flag" | "function" | undefined>;
const callOptionNames: readonly string[] = Object.keys(options);

const named = (kind: "text" | "flag" | "function"): readonly string[] =>
  Object.entries(options).flatMap(([name, each]) => (each === kind ? [name] : []));
const texts = named("text");
const flags = named("flag");
const functions = named("function");

/** @param names the known options. Any other is refused: an ignored option would narrow nothing */
export function readOptions(
  foreign: Foreign<unknown>,
  families: Families,
  names: readonly string[] = callOptionNames,
): ReadOptions {
  try {
    if (typeof foreign !== "object" || foreign === null) return refused("The options are not an object.");
    const options: Record<string, unknown> = { ...foreign };
    const { output, body } = options;
    const unknown = unknownName(options, names);
    const read = unknown
      ? refused(`The options have no member \`${unknown.name}\`.`, unknown.hint)
      : readPlain(options, families);
    return output === undefined && body === undefined ? read : { ...read, ...readOutput(output), ...readBody(body) };
  } catch {
    return refused("The options cannot be read.");
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
    // It is none, or it is somebody else's.
  }
  return { fault: { message: "`output` is not an unlocked WritableStream. Pass a stream that has no writer." } };
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
  return { fault: { message: "`body` is not an unlocked ReadableStream. Pass a stream that has no reader." } };
}

function readPlain(options: Record<string, unknown>, families: Families): ReadOptions {
  for (const name of texts) if (!isAbsentOr("string", options[name])) return refused(`\`${name}\` is not a string.`);
  for (const name of functions)
    if (!isAbsentOr("function", options[name])) return refused(`\`${name}\` is not a function.`);
  for (const name of flags) if (!isAbsentOr("boolean", options[name])) return refused(`\`${name}\` is not a boolean.`);
  if (!isWait(options["waitMs"])) return refused(`\`waitMs\` is not an integer from 0 to ${limits.longestWaitMs}.`);
  if (!isKey(options["idempotencyKey"]))
    return refused(`\`idempotencyKey\` is not a string of 1 to ${limits.nameLength} characters.`);
  if (options["signal"] !== undefined && !isSignal(options["signal"]))
    return refused("`signal` is not an AbortSignal.");
  const { bounds, grants } = options;
  if (bounds === undefined && grants === undefined) return { options };
  const { values, characters } = limits.declaration;
  const plain = snapshot({ bounds, grants }, { maxNodes: values, maxStringUnits: characters });
  if (!plain.ok) {
    const most = `plain JSON data of at most ${values} values and ${characters} characters`;
    return refused(`The options are not ${most}: ${plain.error.message}.`);
  }
  const own = deepFreeze(plain.value) as JsonObject;
  const fault = own["bounds"] === undefined ? undefined : boundsFault(own["bounds"]);
  if (fault) return { options: {}, fault };
  const read = own["grants"] === undefined ? [] : families.read(own["grants"]);
  return typeof read === "string"
    ? refused(`The call's grants are malformed: ${read}`)
    : { options: { ...options, ...own } };
}

function boundsFault(bounds: JsonValue): InvalidOption | undefined {
  if (!isJsonObject(bounds)) return { message: "`bounds` is not an object." };
  const unknown = unknownName(bounds, Object.keys(limits.ceilings));
  if (unknown) return { message: `\`bounds\` has no member \`${unknown.name}\`.`, hint: unknown.hint };
  for (const [name, ceiling] of Object.entries(limits.ceilings)) {
    const wish = bounds[name];
    // None at all is a wish as well where nothing is meant to go over the network.
    const least = name.startsWith("network") ? 0 : 1;
    if (wish !== undefined && !isIntegerIn(wish, least, ceiling))
      return { message: `\`bounds.${name}\` is not an integer from ${least} to ${ceiling}.` };
  }
  return undefined;
}

function isIntegerIn(value: unknown, least: number, most: number): boolean {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
}

function isAbsentOr(type: "string" | "function" | "boolean", value: unknown): boolean {
  return value === undefined || typeof value === type;
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

function refused(message: string, hint?: string): ReadOptions {
  return { options: {}, fault: { message, ...(hint !== undefined && { hint }) } };
}

/**
 * The tool that a caller names by text or by package. A package names exactly its version. Any
 * other value names no tool.
 */
export function readTool(foreign: Foreign<unknown>): { readonly name: string; readonly pinned?: string } {
  if (typeof foreign === "string") return { name: foreign };
  try {
    const { manifest } = membersOf(
      foreign as Foreign<{ readonly manifest: { name: string; version: string } }>,
      "manifest",
    );
    const { name, version } = membersOf(manifest, "name", "version");
    if (typeof name === "string" && typeof version === "string") return { name, pinned: version };
  } catch {
    // It cannot be read, so it names nothing.
  }
  return { name: "" };
}
