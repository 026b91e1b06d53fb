import { saved as pageValues, type SavedKey, type SavedValues } from "../client/saved.ts";
import { startSource } from "./start-source.ts";

interface SourceDraft {
  readonly source: string;
  /** It came from elsewhere, and no person has given it to the kernel. */
  readonly isUngiven: boolean;
}

const key: SavedKey = { area: "session", key: "keyhole.build", what: "the source of the tool" };
const ungivenKey: SavedKey = { area: "session", key: "keyhole.build.ungiven", what: "where the source came from" };

export function loadDraft(saved: SavedValues = pageValues): SourceDraft {
  return { source: saved.read(key) ?? startSource, isUngiven: saved.read(ungivenKey) !== undefined };
}

export function saveDraft({ source, isUngiven }: SourceDraft, saved: SavedValues = pageValues): void {
  // In this order: a source from elsewhere never stands without its mark.
  if (isUngiven && !saved.write(ungivenKey, "yes")) return;
  saved.write(key, source);
  if (!isUngiven) saved.write(ungivenKey, undefined);
}
