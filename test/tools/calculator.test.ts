import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluate } from "../../packages/worker-host/src/tools/calculator/evaluate.ts";
import { parse } from "../../packages/worker-host/src/tools/calculator/parse.ts";
import { sized } from "../support/size.ts";

function calculate(text: string): number | string {
  const parsed = parse(text);
  const result = parsed.ok ? evaluate(parsed.expression) : parsed;
  return result.ok ? result.value : `${result.column}: ${result.message}`;
}

describe("values", () => {
  it.each([
    ["1", 1],
    ["1.5", 1.5],
    [".5", 0.5],
    ["5.", 5],
    ["1e3", 1000],
    ["1E-3", 0.001],
    ["2.5e+2", 250],
    [" 1 \t+\n 2 ", 3],
    ["1+2*3", 7],
    ["(1+2)*3", 9],
    ["10-4-3", 3],
    ["100/10/2", 5],
    ["7%4", 3],
    ["-7%4", -3],
    ["7%-4", 3],
    ["2*7%4", 2],
    ["10-2*3%4", 8],
    ["2^3", 8],
    ["2^3^2", 512],
    ["(2^3)^2", 64],
    ["-2^2", -4],
    ["(-2)^2", 4],
    ["2^-1", 0.5],
    ["-2^-2", -0.25],
    ["2*-3", -6],
    ["2--3", 5],
    ["--2", 2],
    ["-+-2", 2],
    ["+2", 2],
    ["2^-2^2", 0.0625],
    ["-2*3", -6],
    ["-3%2", -1],
    ["4^0.5", 2],
    ["0^0", 1],
    ["0^5", 0],
    ["1/3", 1 / 3],
    ["0.1+0.2", 0.30000000000000004],
    ["-0", 0],
    ["0*-1", 0],
    ["sqrt(16)", 4],
    ["sqrt(2)", Math.SQRT2],
    ["abs(-3)", 3],
    ["min(3,1,2)", 1],
    ["max(3, 1, 2)", 3],
    ["min(5)", 5],
    ["floor(-2.5)", -3],
    ["ceil(-2.5)", -2],
    ["round(2.5)", 3],
    ["round(-2.5)", -3],
    ["round(2.4)", 2],
    ["round(0.49999999999999994)", 0],
    ["ln(e)", 1],
    ["log10(1000)", 3],
    ["exp(0)", 1],
    ["exp(1)", Math.E],
    ["sin(0)", 0],
    ["cos(0)", 1],
    ["tan(0)", 0],
    ["sin(pi/2)", 1],
    ["cos(pi)", -1],
    ["pi", Math.PI],
    ["PI", Math.PI],
    ["SQRT(4)", 2],
    ["2*pi*e", 2 * Math.PI * Math.E],
    ["max(1, min(5, 3)) ^ 2", 9],
    ["((((1))))", 1],
    ["2 × 3 ÷ 4 − 1", 0.5],
    ["3·4", 12],
    ["1e308*10/10", "6: the result is larger than 1.797e308"],
    ["9007199254740993", 9007199254740992],
    ["(1 + 2) * sqrt(16) / 3^2", 12 / 9],
    ["1.7976931348623157e308", Number.MAX_VALUE],
  ] as const)("%j", (text, expected) => expect(calculate(text)).toBe(expected));
});

describe("complaints name the column", () => {
  it.each([
    ["", "1: expected a number, a name or `(`, found the end"],
    ["1+", "3: expected a number, a name or `(`, found the end"],
    ["1 2", "3: expected an operator or the end, found `2`"],
    ["2(3)", "2: expected an operator or the end, found `(`"],
    ["(1+2", "5: expected `)` for the `(` at column 1, found the end"],
    ["1+2)", "4: expected an operator or the end, found `)`"],
    ["()", "2: expected a number, a name or `(`, found `)`"],
    ["1 + * 2", "5: expected a number, a name or `(`, found `*`"],
    ["1.2.3", "4: expected an operator or the end, found `.3`"],
    ["2 $ 3", "3: unexpected character `$`"],
    ["1 + 💥", "5: unexpected character `💥`"],
    ["1,2", "2: expected an operator or the end, found `,`"],
    [
      "foo + 1",
      "1: unknown name `foo`; there are sqrt, abs, min, max, round, floor, ceil, ln, log10, exp, sin, cos, tan, pi, e",
    ],
    [
      "1 + constructor",
      "5: unknown name `constructor`; there are sqrt, abs, min, max, round, floor, ceil, ln, log10, exp, sin, cos, tan, pi, e",
    ],
    ["__proto__", "1: unexpected character `_`"],
    [
      "toString(1)",
      "1: unknown name `toString`; there are sqrt, abs, min, max, round, floor, ceil, ln, log10, exp, sin, cos, tan, pi, e",
    ],
    ["sqrt", "1: `sqrt` is a function: write `sqrt(…)`"],
    ["sqrt 4", "1: `sqrt` is a function: write `sqrt(…)`"],
    ["sqrt()", "1: `sqrt` takes one value, not 0"],
    ["sqrt(1, 2)", "1: `sqrt` takes one value, not 2"],
    ["min()", "1: `min` takes 1 to 100 values, not 0"],
    ["min(1,)", "7: expected a number, a name or `(`, found `)`"],
    ["max(1 2)", "7: expected `)` for the `(` at column 4, found `2`"],
    [
      "pi(2)",
      "1: unknown name `pi`; there are sqrt, abs, min, max, round, floor, ceil, ln, log10, exp, sin, cos, tan, pi, e",
    ],
    ["0x10", "2: expected an operator or the end, found `x10`"],
    ["1e", "2: expected an operator or the end, found `e`"],
    ["1 = 1", "3: unexpected character `=`"],
    ["1/0", "2: division by zero"],
    ["3 + 4 % (2-2)", "7: division by zero"],
    ["0^-1", "2: 0 has no negative power"],
    ["(-8)^(1/3)", "5: a negative number has no real power with a fraction"],
    ["sqrt(-1)", "1: a negative number has no real square root"],
    ["2*ln(0)", "3: `ln` takes a number above 0"],
    ["log10(-1)", "1: `log10` takes a number above 0"],
    ["exp(1000)", "1: the result is larger than 1.797e308"],
    ["2^1024", "2: the result is larger than 1.797e308"],
    ["1e309", "1: the result is larger than 1.797e308"],
    ["-1e308-1e308", "7: the result is larger than 1.797e308"],
  ])("%j", (text, complaint) => expect(calculate(text)).toBe(complaint));
});

describe("depth", () => {
  it.each([
    ["parentheses", (n: number) => "(".repeat(n) + "1" + ")".repeat(n), 99],
    ["signs", (n: number) => "-".repeat(n) + "1", 99],
    ["powers", (n: number) => "1^".repeat(n) + "1", 99],
    ["calls", (n: number) => "abs(".repeat(n) + "1" + ")".repeat(n), 99],
  ])("of %s ends at its limit", (_, nest, limit) => {
    expect(Math.abs(calculate(nest(limit)) as number)).toBe(1);
    expect(calculate(nest(limit + 1))).toMatch(/^\d+: more than 100 levels inside each other$/);
    expect(calculate(nest(100_000))).toMatch(/more than 100 levels/);
  });
  it("does not bound length", () => expect(calculate(`0${"+1".repeat(50_000)}`)).toBe(50_000));
});

it("agrees with ECMAScript's own parser, which knows the same precedence", () => {
  const expression = fc.letrec<{ whole: string; leaf: string }>((tie) => ({
    leaf: fc.oneof(
      fc.nat(99).map(String),
      fc.double({ min: 0.01, max: 9, noNaN: true }).map((value) => value.toFixed(2)),
    ),
    whole: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      tie("leaf"),
      fc
        .tuple(tie("whole"), fc.constantFrom("+", "-", "*", "/", "%"), tie("whole"))
        .map(([a, operator, b]) => `${a} ${operator} ${b}`),
      tie("whole").map((inner) => `(${inner})`),
      tie("whole").map((inner) => `-(${inner})`),
      fc
        .tuple(fc.constantFrom("abs", "floor", "ceil", "sqrt"), tie("whole"))
        .map(([name, inner]) => `${name}(${inner})`),
    ),
  })).whole;
  fc.assert(
    fc.property(expression, (text) => {
      const reference = new Function("abs", "floor", "ceil", "sqrt", `return (${text});`)(
        Math.abs,
        Math.floor,
        Math.ceil,
        Math.sqrt,
      ) as number;
      const ours = calculate(text);
      if (typeof ours === "number") expect(ours).toBe(reference === 0 ? 0 : reference);
      else expect(Number.isFinite(reference) && !/by zero|square root/.test(ours), `${text}: ${ours}`).toBe(false);
    }),
    { numRuns: sized(250, 2_000) },
  );
});

it("answers every text with a number or a complaint", () => {
  const pieces = fc.array(
    fc.oneof(
      fc.constantFrom("1", "2.5", "+", "-", "*", "/", "%", "^", "(", ")", ",", "pi", "e", "sqrt", "min", "ln", " "),
      fc.string({ maxLength: 2 }),
    ),
    { maxLength: 15 },
  );
  fc.assert(
    fc.property(pieces, (parts) => {
      const text = parts.join("");
      const result = calculate(text);
      if (typeof result === "number") expect(Number.isFinite(result)).toBe(true);
      else expect(Number(/^(\d+): ./.exec(result)?.[1])).toBeLessThanOrEqual(text.length + 1);
    }),
    { numRuns: sized(250, 2_000) },
  );
});
