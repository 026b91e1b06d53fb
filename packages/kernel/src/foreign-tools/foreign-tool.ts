import type { Bounds } from "../bounds/bounds.ts";
import type { OptionNames } from "../json/known-options.ts";
import type { Tier } from "../tool/manifest.ts";
import type { DefinitionDifference } from "./difference.ts";

/** The state of a tool of another server. */
export type ForeignToolState =
  /** The source pinned the definition. A call runs. */
  | "open"
  /** The server changed the definition, and the model still sees the pinned one. A call ends with `TOOL_ERROR`, and the server gets nothing. */
  | "changed"
  /** The server added the tool later, or its definition has invisible characters. A call ends with `TOOL_NOT_FOUND`. */
  | "new"
  /** The server lists two tools of one name, or a definition that is no tool. A call ends with `TOOL_NOT_FOUND`. */
  | "refused"
  /** The server lists the tool no longer. A call ends with `TOOL_NOT_FOUND`. */
  | "gone";

/** A tool that a server offers to a kernel. */
export interface ForeignTool {
  /** The kernel's name. */
  readonly name: string;
  readonly serverName: string;
  readonly state: ForeignToolState;
  /** Of the definition that the server lists; confirm this one. */
  readonly hash: string;
  /** How it differs from the pinned one: show it before the confirmation. A `new` tool differs in everything. */
  readonly differences: readonly DefinitionDifference[];
  /** The reason of the refusal. */
  readonly reason?: string;
}

/** The bounds of each tool of a source. */
export interface ForeignBounds {
  /** Of one call, in ms. Default 60,000. */
  readonly timeoutMs?: number;
  /** Of one result, as JSON. Default 4 MiB. */
  readonly resultBytes?: number;
  /** Calls of one tool in an hour. Default 10,000. */
  readonly callsPerHour?: number;
}

export const foreignBounds: OptionNames<ForeignBounds> = { timeoutMs: 1, resultBytes: 1, callsPerHour: 1 };

const RESULT_BYTES = 4_194_304;
const TIMEOUT_MS = 60_000;
const CALLS_PER_HOUR = 10_000;
const CONCURRENCY = 16;

/** The bounds of each tool of a source. */
export function boundsOf({
  timeoutMs = TIMEOUT_MS,
  resultBytes = RESULT_BYTES,
  callsPerHour = CALLS_PER_HOUR,
}: ForeignBounds): Required<Pick<Bounds, "timeoutMs" | "outputBytes" | "callsPerHour" | "concurrency">> {
  return { timeoutMs, outputBytes: resultBytes, callsPerHour, concurrency: CONCURRENCY };
}

/** The program sets the tier of a tool. Without that a hint can raise it above 2, and none can lower it. */
export function tierOf(serverName: string, tiers: Readonly<Record<string, Tier>>, hinted: Tier): Tier {
  const named = Object.hasOwn(tiers, serverName) ? tiers[serverName] : undefined;
  return named ?? (hinted > 2 ? hinted : 2);
}

/** A text of a foreign definition; `undefined` where there is none. */
export function definitionText(value: unknown, mostLength: number): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, mostLength).toWellFormed() : undefined;
}
