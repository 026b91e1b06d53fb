export interface Finding {
  readonly subject: string;
  /** `missing`: the features that depend on it do not work. `absent`: the machine lacks it, and not every user needs it. */
  readonly state: "ok" | "missing" | "absent";
  readonly text: string;
}
