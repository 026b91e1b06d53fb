import type { CallOptions } from "@keyhole/kernel";
import { plainMembers } from "@keyhole/kernel/foreign";
import { fromCloneSafe, type CloneSafe, cloneSafe } from "./clone-safe.ts";

/** The options that stay on the caller's side. */
export type Kept = Pick<
  CallOptions,
  "signal" | "approver" | "nestedApprover" | "output" | "body" | "onEvent" | "onLog" | "onProgress"
>;

/** Fields of an object on their way to the worker; `null` for one that cannot be read at all. */
export type SentFields = Readonly<Record<string, CloneSafe>> | null;

/** A caller's options, read once. What is not what it should be is among those that are sent: the kernel refuses it. */
export function takeOptions(foreign: unknown): { readonly kept: Kept; readonly sent: SentFields } {
  const kept: Record<string, unknown> = {};
  const sent: Record<string, CloneSafe> = {};
  try {
    const members = plainMembers(foreign);
    if (!members) return { kept: {}, sent: null };
    for (const [name, value] of Object.entries(members)) {
      if (isKept.get(name)?.(value)) kept[name] = value;
      else sent[name] = cloneSafe(value);
    }
    return { kept, sent };
  } catch {
    return { kept: {}, sent: null };
  }
}

/** A foreign object, field by field, so that the kernel refuses each at its own place. */
export function sentFields(foreign: unknown): SentFields {
  try {
    if (typeof foreign !== "object" || foreign === null) return null;
    const fields = Object.entries(foreign);
    return Object.fromEntries(fields.map(([name, value]) => [name, cloneSafe(value)]));
  } catch {
    return null;
  }
}

/** The worker's end. */
export function arrivedFields(sent: SentFields): Record<string, unknown> | null {
  return sent && Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, fromCloneSafe(value)]));
}

const isFunction = (value: unknown): boolean => typeof value === "function";
const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;

const isKept: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  Object.entries({
    signal: isSignal,
    approver: isFunction,
    nestedApprover: isFunction,
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
