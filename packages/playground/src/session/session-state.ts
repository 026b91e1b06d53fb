import type { CallHead } from "./call-head.ts";

/** The reason why the store takes no calls. They stay in memory until the tab closes. */
export interface SessionFault {
  readonly kind: "full" | "refused";
  /** The browser's own words. */
  readonly reason: string;
}

/** The facts about the store itself. */
export interface Facts {
  readonly fault: SessionFault | undefined;
  /** Ids of stored calls that this version of the page cannot read. */
  readonly unreadable: readonly string[];
  /** The browser stored calls before, and has none of them. */
  readonly isLost: boolean;
  /** Whether what is stored was looked through. */
  readonly isLoaded: boolean;
}

export interface SessionState extends Facts {
  /** The latest first. */
  readonly heads: readonly CallHead[];
  /** Calls that are in memory only. */
  readonly unsaved: number;
}
