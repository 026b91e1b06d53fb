import { saved as pageValues, type SavedKey, type SavedValues } from "../client/saved.ts";
import { startSource } from "./start-source.ts";

const key: SavedKey = { area: "session", key: "keyhole.build", what: "the source of the tool" };

export function loadSource(saved: SavedValues = pageValues): string {
  return saved.read(key) ?? startSource;
}

export function saveSource(source: string, saved: SavedValues = pageValues): void {
  saved.write(key, source);
}
