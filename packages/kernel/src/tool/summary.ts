import type { ToolQuarantine } from "../isolate/backoff.ts";
import type { Mode, Tier, ToolManifest } from "./manifest.ts";

export interface ToolSummary {
  /** `name@version`. */
  readonly id: string;
  /** Over manifest and `codeHash`. */
  readonly hash: string;
  /** Of the code alone; `null` for an inline tool. */
  readonly codeHash: string | null;
  readonly manifest: ToolManifest;
  /** Absent where none of its callers has to wait. */
  readonly quarantine?: ToolQuarantine;
}

export interface ToolFilter {
  readonly mode?: Mode;
  readonly category?: string;
  readonly tier?: Tier;
  readonly effect?: string;
  /** Tools of which some call by this caller could be allowed, by what policy, mode and revocations say now. */
  readonly caller?: string;
  /** Case-insensitive, in name, title or description. */
  readonly text?: string;
}
