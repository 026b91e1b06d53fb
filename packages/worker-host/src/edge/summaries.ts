import type { ToolSummary } from "@keyhole/kernel";
import { EdgeFault } from "./fault.ts";
import type { Edge } from "./http.ts";
import { readVersions } from "./wire.ts";

/** The edge's list for a name, requested once for many calls. */
export class Summaries {
  readonly #edge: Edge;
  readonly #known = new Map<string, readonly ToolSummary[]>();

  constructor(edge: Edge) {
    this.#edge = edge;
  }

  /** Highest version first; none where the edge has no such tool. */
  async of(name: string, isFresh: boolean): Promise<readonly ToolSummary[]> {
    const known = isFresh ? undefined : this.#known.get(name);
    if (known) return known;
    const asked = await this.#edge.get(`/v1/tools/${encodeURIComponent(name)}`).then(readVersions, (error: unknown) => {
      if (error instanceof EdgeFault && error.problem === "NOT_FOUND") return { versions: [] };
      throw error;
    });
    if (this.#known.size > 1_000) this.#known.clear();
    this.#known.set(name, asked.versions);
    return asked.versions;
  }
}
