import type { MeterMessage } from "./message.ts";

const meterTypes = { usage: true, exhausted: true, suspended: true, died: true } satisfies Record<
  MeterMessage["type"],
  true
>;

/** Whether a relay said it, and no guest: it never passes on such a message of its guest. */
export function isMeterMessage(data: unknown): data is MeterMessage {
  if (typeof data !== "object" || data === null || !("type" in data)) return false;
  return typeof data.type === "string" && Object.hasOwn(meterTypes, data.type);
}
