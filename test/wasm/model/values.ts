/** An i32 or the equal lanes of a v128, an i64, a function's index, an exception, or null. */
export type Value = number | bigint | Thrown | null;

/** An exception of the module. */
export class Thrown {
  readonly tag: number;
  readonly values: readonly Value[];

  constructor(tag: number, values: readonly Value[]) {
    this.tag = tag;
    this.values = values;
  }
}

/** Unwinds the interpreter; nothing of a module catches it. */
export class Stopped {
  readonly kind: "trapped" | "too-deep" | "out-of-fuel";

  constructor(kind: Stopped["kind"]) {
    this.kind = kind;
  }
}
