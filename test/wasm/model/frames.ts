import type { FunctionSource, Instruction } from "./program.ts";

/** Whether a function calls, so that its activations count. */
export function calls(body: readonly Instruction[]): boolean {
  return body.some((each) => {
    if (each.op === "call" || each.op === "return_call" || each.op === "call_indirect") return true;
    if (!("body" in each)) return false;
    if (each.op === "if" && calls(each.otherwise)) return true;
    if (each.op === "try" && each.catches.some((arm) => calls(arm.body))) return true;
    return calls(each.body);
  });
}

/** 64 bytes, and 8 for each parameter and local, 16 for a vector, in units of 32. */
export function frameUnits({ type, locals }: FunctionSource): number {
  const slots = [...type.params, ...locals].map((each) => (each === "v128" ? 16 : 8));
  return Math.ceil(slots.reduce((sum, each) => sum + each, 64) / 32);
}
