/** Indices of the globals that metering appends. */
export interface MeterGlobals {
  /** i64: fuel and call depth, as `fuel-global.ts` packs them. */
  readonly fuel: number;
  /** i32: how many pages the memory may have. */
  readonly pages: number;
  /** i32: 1 once the memory or a table was not allowed to grow. */
  readonly refused: number;
}

export interface FunctionPlan {
  readonly source: Uint8Array;
  /** The declarations of locals, without their count. */
  readonly declarations: { readonly count: number; readonly from: number; readonly to: number };
  /** The instructions, the closing `end` included. */
  readonly from: number;
  readonly to: number;
  /** Parameters and locals of the original. */
  readonly locals: number;
  /** The size of one activation on the call stack, in units of the fuel global. */
  readonly frameUnits: number;
  /** Of a block that gives what the function gives. */
  readonly exitType: () => ArrayLike<number>;
}
