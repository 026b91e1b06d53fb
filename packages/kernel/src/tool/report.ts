/** A log line of a tool. */
export interface LogEntry {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
}

/** How far a call is, in a unit of the tool's own. */
export interface Progress {
  readonly done: number;
  readonly total?: number;
  readonly message?: string;
}
