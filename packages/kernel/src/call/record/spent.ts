import type { IsolateUsage } from "../../isolate/port.ts";

/** The resources that a call used, as its end event and its result report them. */
export interface Spent {
  readonly effects: readonly string[];
  readonly networkRequests: number;
  readonly networkBytes: number;
  readonly attempts: number;
  readonly usage: IsolateUsage;
  /** The result is that of another call. */
  readonly cached: boolean;
}
