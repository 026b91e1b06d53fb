/** What a tool that was asked can turn out to be. */
export const healthStates = ["healthy", "unhealthy", "unreachable", "quarantined"] as const;
export type HealthState = (typeof healthStates)[number];

/** How a tool is, in an isolate of its own. */
export type ToolHealth =
  /** It was opened, its `setup` succeeded, and its `health`, where it has one, has nothing to say. */
  | { readonly state: "healthy" }
  /** What `health` says, or what `setup` or `health` threw: words of the tool. */
  | { readonly state: "unhealthy"; readonly reason: string }
  /** It could not be opened, died, or did not answer in time. */
  | { readonly state: "unreachable"; readonly reason: string }
  /** Its isolates failed again and again, and none was opened to ask. */
  | { readonly state: "quarantined"; readonly reason: string; readonly retryAfterMs: number }
  /** Nobody was asked: there is no such tool here, no host for it, or the mode denies it. */
  | { readonly state: "unchecked"; readonly reason: string };
