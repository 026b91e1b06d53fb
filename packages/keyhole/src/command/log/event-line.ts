import type { AuditEvent } from "@keyhole/kernel";
import { visible } from "../io.ts";

/** Of a digest as much as a person compares. */
const SHOWN_DIGEST = 12;

/** One line for people: the event, and the members of its payload that are no objects. */
export function eventLine({ seq, time, type, callId, payload }: AuditEvent): string {
  const call = callId === null ? "" : ` ${callId.slice(-SHOWN_DIGEST)}`;
  return visible(`${String(seq).padStart(5)} ${time.slice(11, 23)}${call} ${type} ${detailsOf(payload)}`.trimEnd());
}

/** `tool=echo@1.0.0 decision=allow`. */
function detailsOf(payload: object): string {
  return Object.entries(payload)
    .flatMap(([name, value]) => {
      const shown = shownValue(value);
      return shown === undefined ? [] : [`${name}=${shown}`];
    })
    .join(" ");
}

function shownValue(value: unknown): string | undefined {
  if (Array.isArray(value))
    return value.length === 0 ? undefined : value.map((each) => shownValue(each) ?? "…").join(",");
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return undefined;
  const [, algorithm, digest] = /^([a-z0-9-]+):([0-9a-f]{64})$/.exec(value) ?? [];
  if (digest !== undefined) return `${algorithm}:${digest.slice(0, SHOWN_DIGEST)}…`;
  return /\s/.test(value) ? JSON.stringify(value) : value;
}
