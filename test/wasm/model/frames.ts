import type { FunctionSource, Instruction } from "./program.ts";

const FRAME_BYTES = 64;
const EXCEPTION_BYTES = 32;
const UNIT_BYTES = 32;

/** What is directly inside of an instruction. */
function inside(each: Instruction): readonly (readonly Instruction[])[] {
  if (!("body" in each)) return [];
  if (each.op === "if") return [each.body, each.otherwise];
  return each.op === "try" ? [each.body, ...each.catches.map(({ body }) => body)] : [each.body];
}

/** Whether a function calls, so that its activations count. */
export function calls(body: readonly Instruction[]): boolean {
  return body.some(
    (each) => ["call", "return_call", "call_indirect"].includes(each.op) || inside(each).some((inner) => calls(inner)),
  );
}

/** How many clauses leave an exception on the operand stack. */
function references(body: readonly Instruction[]): number {
  return body.reduce((sum, each) => {
    const own = each.op === "try_table" ? each.clauses.filter(({ ref }) => ref).length : 0;
    return sum + own + inside(each).reduce((inner, next) => inner + references(next), 0);
  }, 0);
}

/** How deeply `try` nests. */
function levels(body: readonly Instruction[]): number {
  return Math.max(
    0,
    ...body.map((each) => (each.op === "try" ? 1 : 0) + Math.max(0, ...inside(each).map((inner) => levels(inner)))),
  );
}

/**
 * 64 bytes, 8 for each parameter and local (16 for a vector, 32 for an exception), and 32 for each exception that the operand stack may
 * keep; in units of 32.
 */
export function frameUnits({ type, locals, body }: FunctionSource): number {
  const size = { i32: 8, i64: 8, funcref: 8, v128: 16, exnref: EXCEPTION_BYTES } as const;
  const variables = [...type.params, ...locals].reduce((sum, each) => sum + size[each], 0);
  const kept = EXCEPTION_BYTES * (references(body) + levels(body));
  return Math.ceil((FRAME_BYTES + variables + kept) / UNIT_BYTES);
}
