/** An i32 or the equal lanes of a v128, an i64, a function's index, an exception, or null. */
export type Value = number | bigint | Thrown | null;

/** An exception of the module. */
export class Thrown {
  readonly tag: number;
  readonly values: readonly Value[];
  /** It has left the function that threw it. */
  hasLeft = false;

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

/** An exception on its way out of its function, past everything that could catch it there. */
export class Delegated {
  readonly thrown: Thrown;

  constructor(thrown: Thrown) {
    this.thrown = thrown;
  }
}

export interface Limits {
  readonly fuel: number;
  /** Of the call stack, in units of 32 bytes. */
  readonly units: number;
  readonly pages: number;
}

export interface Ended {
  readonly kind: "returned" | "trapped" | "uncaught" | "too-deep" | "out-of-fuel";
  readonly values: readonly Value[];
  readonly fuel: number;
  /** The deepest call stack, in units of 32 bytes. */
  readonly units: number;
  /** Pages that growth was refused. */
  readonly refusedPages: number;
  /** A caller has caught what a callee threw. */
  readonly caughtFromCallee: boolean;
}
