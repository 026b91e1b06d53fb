export interface Finding {
  readonly subject: string;
  /** `missing`: what depends on it does not work. `absent`: it is not there, and is not needed by everybody. */
  readonly state: "ok" | "missing" | "absent";
  readonly text: string;
}
