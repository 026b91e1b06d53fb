import { saved as pageValues, type SavedKey, type SavedValues } from "../client/saved.ts";

const key: SavedKey = { area: "session", key: "keyhole.policy-draft", what: "the draft of the policy" };

/** The text of this tab that is not in force. */
export interface Draft {
  readonly text: string;
  /** The policy that was in force when the draft began, as text. */
  readonly base: string;
}

export function loadDraft(saved: SavedValues = pageValues): Draft | undefined {
  try {
    const stored: unknown = JSON.parse(saved.read(key) ?? "null");
    if (typeof stored !== "object" || stored === null || !("text" in stored) || !("base" in stored)) return undefined;
    const { text, base } = stored;
    return typeof text === "string" && typeof base === "string" ? { text, base } : undefined;
  } catch {
    return undefined;
  }
}

export function saveDraft(draft: Draft | undefined, saved: SavedValues = pageValues): void {
  saved.write(key, draft === undefined ? undefined : JSON.stringify(draft));
}
