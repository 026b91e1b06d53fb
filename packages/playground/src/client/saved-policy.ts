import type { JsonValue, Setup } from "@keyhole/kernel";
import { saved as pageValues, type SavedKey, type SavedValues } from "./saved.ts";

const key: SavedKey = { area: "local", key: "keyhole.policy", what: "the policy" };

export function savePolicy(document: JsonValue, saved: SavedValues = pageValues): void {
  saved.write(key, JSON.stringify(document));
}

/** The policy of pages that load later, as text: this tab, or another one, applied it. `undefined` where none is stored. */
export function storedPolicy(): string | undefined {
  return pageValues.read(key);
}

/**
 * Tells when another tab stored a policy.
 *
 * @returns a function that removes the listener
 */
export function watchStoredPolicy(listener: () => void): () => void {
  const onStorage = (event: StorageEvent): void => {
    if (event.key === key.key) listener();
  };
  window.addEventListener("storage", onStorage);
  return () => window.removeEventListener("storage", onStorage);
}

interface Restored {
  /** Absent without a saved policy, or where the kernel refuses it. */
  readonly policy?: JsonValue;
  readonly warning?: string;
}

/**
 * Applies the policy that the person applied last. Another version of the page, or another program on this origin, may have written
 * the value: a value that the kernel refuses leaves the start policy in force.
 */
export async function restorePolicy(
  setPolicy: (document: JsonValue) => Promise<Setup<unknown>>,
  saved: SavedValues = pageValues,
): Promise<Restored> {
  const text = saved.read(key);
  if (text === undefined) return {};
  try {
    const policy = JSON.parse(text) as JsonValue;
    const applied = await setPolicy(policy);
    return applied.ok ? { policy } : refused(applied.error.message);
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error));
  }
}

function refused(reason: string): Restored {
  const warning = `The saved policy cannot be used: ${reason} The start policy is in force. The saved policy stays in this browser until you apply another one.`;
  return { warning };
}
