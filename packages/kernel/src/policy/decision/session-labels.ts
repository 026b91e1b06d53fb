import { limits } from "../../limits.ts";

/** The labels that each session has gathered. They only grow. */
export class SessionLabels {
  readonly #labels = new Map<string, readonly string[]>();

  /** Sorted. A session that may have been forgotten carries all that there are. */
  of(sessionId: string, all: readonly string[]): readonly string[] {
    return this.#labels.get(sessionId) ?? (this.#labels.size >= limits.labelledSessions ? all : []);
  }

  add(sessionId: string, labels: readonly string[]): void {
    if (labels.length === 0) return;
    const known = this.#labels.get(sessionId);
    if (known === undefined && this.#labels.size >= limits.labelledSessions) return;
    this.#labels.set(sessionId, [...new Set([...(known ?? []), ...labels])].toSorted());
  }
}
