import { Complaint, type Expression, type FunctionName, type Operator } from "./parse.ts";
import { cos, exp, ln, log10, power, sin, tan } from "./real.ts";

export type Evaluated =
  | { readonly ok: true; readonly value: number }
  | { readonly ok: false; readonly message: string; readonly column: number };

/** Doubles throughout (IEEE 754), each step rounded to nearest; what has no finite real value is a complaint that names its column. */
export function evaluate(expression: Expression): Evaluated {
  try {
    const value = valueOf(expression);
    // The caller gets minus zero as zero.
    return { ok: true, value: value === 0 ? 0 : value };
  } catch (error) {
    if (error instanceof Complaint) return { ok: false, message: error.message, column: error.column };
    throw error;
  }
}

function valueOf(expression: Expression): number {
  const { column } = expression;
  switch (expression.kind) {
    case "number":
      return finite(expression.value, column);
    case "negate":
      return -valueOf(expression.operand);
    case "binary":
      return binaryValue(expression);
    case "call":
      return finite(calls[expression.name](expression.operands.map(valueOf), column), column);
  }
}

/** `1 + 2 + 3 + …` leans to the left, as deep as it is long: it is walked down and up again instead of nested. */
function binaryValue(expression: Extract<Expression, { kind: "binary" }>): number {
  const chain = [expression];
  let innermost = expression.left;
  for (; innermost.kind === "binary"; innermost = innermost.left) chain.push(innermost);
  let value = valueOf(innermost);
  for (const { operator, right, column } of chain.toReversed())
    value = finite(operators[operator](value, valueOf(right), column), column);
  return value;
}

function finite(value: number, column: number): number {
  if (Number.isFinite(value)) return value;
  throw new Complaint("the result is larger than 1.797e308", column);
}

const operators = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right, column) => left / divisor(right, column),
  "%": (left, right, column) => left % divisor(right, column),
  "^": (base, exponent, column) => {
    if (base === 0) {
      if (exponent < 0) throw new Complaint("0 has no negative power", column);
      return exponent === 0 ? 1 : 0;
    }
    if (base < 0 && !Number.isInteger(exponent))
      throw new Complaint("a negative number has no real power with a fraction", column);
    return power(base, exponent);
  },
} satisfies Record<Operator, (left: number, right: number, column: number) => number>;

function divisor(value: number, column: number): number {
  if (value === 0) throw new Complaint("division by zero", column);
  return value;
}

type Call = (operands: readonly number[], column: number) => number;

const positive =
  (name: string, compute: (value: number) => number): Call =>
  ([value = 0], column) => {
    if (value > 0) return compute(value);
    throw new Complaint(`\`${name}\` takes a number above 0`, column);
  };

const unary =
  (compute: (value: number) => number): Call =>
  ([value = 0]) =>
    compute(value);

const calls = {
  sqrt: ([value = 0], column) => {
    if (value < 0) throw new Complaint("a negative number has no real square root", column);
    // Correctly rounded in IEEE 754, unlike what `real.ts` is for.
    return Math.sqrt(value);
  },
  abs: unary(Math.abs),
  min: (operands) => Math.min(...operands),
  max: (operands) => Math.max(...operands),
  // Away from zero, as people round; `Math.round` takes -2.5 to -2.
  round: unary((value) => Math.sign(value) * Math.round(Math.abs(value))),
  floor: unary(Math.floor),
  ceil: unary(Math.ceil),
  ln: positive("ln", ln),
  log10: positive("log10", log10),
  exp: unary(exp),
  sin: unary(sin),
  cos: unary(cos),
  tan: unary(tan),
} satisfies Record<FunctionName, Call>;
