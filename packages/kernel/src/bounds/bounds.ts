/** Upper bounds of one call, or of one tool where the name says so. A policy and a caller can only lower them. */
export interface Bounds {
  /** Wall-clock time of a run, the opening of its isolate included. */
  readonly timeoutMs: number;
  readonly outputBytes: number;
  /** Of a body, as far as the tool reads it. */
  readonly bodyBytes: number;
  readonly networkRequests: number;
  readonly networkBytes: number;
  /** Calls of one tool at the same time. Further calls wait for a slot. */
  readonly concurrency: number;
  /** Calls of one tool by one caller in any 60 minutes, calls in flight included. The kernel refuses further calls. Without it there is no rate. */
  readonly callsPerHour?: number;
  /** CPU time. Only some hosts can enforce it: a tool that sets it is refused elsewhere. */
  readonly cpuMs?: number;
  /** Memory of the isolate. Only some hosts can enforce it. */
  readonly memoryBytes?: number;
  /** Deterministic instruction count. Only some hosts can enforce it. */
  readonly fuel?: number;
}

export type BoundName = keyof Bounds;
