import { defineTool } from "@keyhole/kernel/tool";
import { evaluate } from "./calculator/evaluate.ts";
import { parse } from "./calculator/parse.ts";

export default defineTool({
  name: "calculator",
  version: "1.0.0",
  title: "Calculator",
  description:
    "Computes one arithmetic expression in double precision and returns its value. Operators: + - * / % (remainder, with the sign of the dividend) " +
    "and ^ (power, right to left; -2^2 is -4). Functions: sqrt, abs, min, max, round (half away from zero), floor, ceil, ln, log10, exp, and sin, cos, " +
    "tan in radians. Constants: pi, e. Multiplication is always written: 2*(3+4), not 2(3+4).",
  category: "data",
  determinism: "pure",
  tier: 0,
  risk: "low",
  idempotent: true,
  input: {
    type: "object",
    properties: {
      expression: {
        type: "string",
        minLength: 1,
        maxLength: 2_000,
        description: "For example: (1 + 2) * sqrt(16) / 3^2",
      },
    },
    required: ["expression"],
    additionalProperties: false,
    examples: [{ expression: "(1 + 2) * sqrt(16) / 3^2" }, { expression: "0.1 + 0.2" }],
  },
  output: {
    kind: "json",
    schema: {
      type: "object",
      properties: { value: { type: "number" } },
      required: ["value"],
      additionalProperties: false,
    },
  },
  check({ expression }) {
    const parsed = parse(expression);
    return parsed.ok ? undefined : `The expression is unreadable at column ${parsed.column}: ${parsed.message}.`;
  },
  execute({ expression }) {
    const parsed = parse(expression);
    const result = parsed.ok ? evaluate(parsed.expression) : parsed;
    if (!result.ok) throw new RangeError(`The expression has no value: ${result.message} (column ${result.column}).`);
    return { value: result.value };
  },
});
