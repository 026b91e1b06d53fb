/** The states of a checked tool. */
export const healthStates = ["healthy", "unhealthy", "unreachable", "quarantined"] as const;
export type HealthState = (typeof healthStates)[number];

/** How a tool is, in an isolate of its own. */
export type ToolHealth =
  /** It was opened, its `setup` succeeded, and its `health`, where it has one, has nothing to say. */
  | { readonly state: "healthy" }
  /** The answer of `health`, or the error of `setup` or `health`: words of the tool. */
  | { readonly state: "unhealthy"; readonly reason: string }
  /** It did not open, died, or did not answer in time. */
  | { readonly state: "unreachable"; readonly reason: string }
  /** Its isolates failed again and again, and the kernel opened none to ask. */
  | { readonly state: "quarantined"; readonly reason: string; readonly retryAfterMs: number }
  /** No check ran: the tool is unknown, has no host, or the mode denies it. */
  | { readonly state: "unchecked"; readonly reason: string };
