import type { CallOptions } from "@keyhole/kernel";
import { calledTool } from "../called-tool.ts";
import { arrived, type Crossing, crossing } from "./crossing.ts";

/** What of a caller's options is used where the caller is. */
type Kept = Pick<CallOptions, "signal" | "approver" | "output" | "body" | "onEvent" | "onLog" | "onProgress">;

/** The others; `null` for options that cannot be read at all. */
export type SentOptions = Readonly<Record<string, Crossing>> | null;

/** A caller's options, read once. What is not what it should be is among those that are sent: the kernel refuses it. */
export function takeOptions(foreign: unknown): { readonly kept: Kept; readonly sent: SentOptions } {
  const kept: Record<string, unknown> = {};
  const sent: Record<string, Crossing> = {};
  try {
    if (typeof foreign !== "object" || foreign === null) return { kept: {}, sent: null };
    for (const [name, value] of Object.entries(foreign)) {
      if (value === undefined) continue;
      if (isKept.get(name)?.(value)) kept[name] = value;
      else sent[name] = crossing(value);
    }
    return { kept, sent };
  } catch {
    return { kept: {}, sent: null };
  }
}

/** The worker's end. */
export function arrivedOptions(sent: SentOptions): Record<string, unknown> | null {
  return sent && Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, arrived(value)]));
}

/** A package's code does not travel: its version does. */
export function toolNamed(foreign: unknown, sent: SentOptions): { readonly name: string; readonly sent: SentOptions } {
  const { name, version } = calledTool(foreign);
  return { name, sent: sent && version !== undefined ? { ...sent, version: { value: version } } : sent };
}

const isFunction = (value: unknown): boolean => typeof value === "function";
const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

const isKept: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  Object.entries({
    signal: isSignal,
    approver: isFunction,
    output: isObject,
    body: isObject,
    onEvent: isFunction,
    onLog: isFunction,
    onProgress: isFunction,
  } satisfies Record<keyof Kept, (value: unknown) => boolean>),
);

/** By what is used of it, as the kernel has it. */
function isSignal(value: unknown): boolean {
  const { aborted, addEventListener, removeEventListener } = Object(value) as Partial<AbortSignal>;
  return typeof aborted === "boolean" && isFunction(addEventListener) && isFunction(removeEventListener);
}
