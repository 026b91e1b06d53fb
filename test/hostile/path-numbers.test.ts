import fc from "fast-check";
import { expect, it } from "vitest";
import { pathGranter, pathToucher } from "../../packages/kernel/src/capability/matching/url-paths.ts";
import { sized } from "../support/size.ts";

// Routers read a segment as a number (`int()`, `Number()`, `<int:id>`): zeros before it, a plus, the digits of other scripts, other bases and powers of ten are the same number to them.

/** Zeros of scripts whose ten digits follow each other. */
const zeros = ["0", "０", "٠", "۰", "०", "𝟎"];
const inDigits = (text: string, zero: string): string =>
  text.replaceAll(/\d/g, (digit) => String.fromCodePoint(zero.codePointAt(0)! + Number(digit)));
const number = fc.bigInt({ min: 0n, max: 10n ** 20n });
const below = fc.constantFrom("", "/", "/orders", ".json", ";a=b");

it("a deny of a number in a path meets every spelling of it, as an argument's does", () => {
  const spelling = fc.record({
    before: fc.constantFrom("", "0", "00", "0000000000", "+", "+0"),
    zero: fc.constantFrom(...zeros),
    escapes: fc.boolean(),
    after: below,
  });
  fc.assert(
    fc.property(number, spelling, fc.nat(3), (value, { before, zero, escapes, after }, padding) => {
      const touches = pathToucher([`/api/users/${"0".repeat(padding)}${value}`]);
      const digits = inDigits(`${before}${value}`, zero);
      const spelt = escapes
        ? [...new TextEncoder().encode(digits)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
        : encodeURIComponent(digits).replaceAll("%2B", "+");
      expect(touches(`/api/users/${spelt}${after}`), spelt).toBe(true);
    }),
    { numRuns: sized(300, 10_000) },
  );
});

it("a deny of a number meets each text that Number() reads as it", () => {
  const written = fc.constantFrom(
    (value: bigint) => `0x${value.toString(16)}`,
    (value: bigint) => `0X${value.toString(16).toUpperCase()}`,
    (value: bigint) => `0o0${value.toString(8)}`,
    (value: bigint) => `0b${value.toString(2)}`,
    (value: bigint) => `${value}e0`,
    (value: bigint) => `+${value}00E-2`,
    (value: bigint) => `0.0${value}e${String(value).length + 1}`,
  );
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), written, below, (value, write, after) => {
      const spelt = write(value);
      expect(BigInt(Number(spelt))).toBe(value);
      expect(pathToucher([`/api/users/${value}`])(`/api/users/${spelt}${after}`), spelt).toBe(true);
      expect(pathToucher([`/api/users/${value + 1n}`])(`/api/users/${spelt}`), spelt).toBe(false);
    }),
    { numRuns: sized(300, 10_000) },
  );
});

it.each([
  "42-ada",
  "42a",
  "42,8",
  "42_0",
  "42n",
  "42'",
  "42%22",
  "42-",
  "042-x",
  "+42x",
  "0x2ag",
  "420e-1x",
  "%EF%BC%94%EF%BC%92-x",
  // Keys of OData, in each of its conventions.
  "(42)",
  "(id=42)",
  "('42')",
  "(042)",
  "(42-x)",
])("a deny of 42 meets %s, as readers of a number at the beginning do", (spelt) => {
  const place = spelt.startsWith("(") ? `/api/users${spelt}` : `/api/users/${spelt}`;
  for (const path of [place, `${place}/orders`, `/v1/..${place}`]) {
    expect(pathToucher(["/api/users/42"])(path), path).toBe(true);
    expect(pathToucher(["/api/users/43", "/api/users/4"])(path), path).toBe(false);
    expect(pathGranter(["/api/users/42"])(path), path).toBe(false);
  }
});

it("a deny of a key meets it as a segment", () => {
  const touches = pathToucher(["/api/users(42)/orders"]);
  expect(touches("/api/users/42/orders")).toBe(true);
  expect(touches("/api/users('42')/orders/1")).toBe(true);
  expect(touches("/api/users/42")).toBe(false);
});

it("a deny of a number meets no other number, and no grant covers another spelling", () => {
  fc.assert(
    fc.property(number, number, fc.nat(3), (value, other, padding) => {
      fc.pre(value !== other);
      const prefix = `/api/users/${value}`;
      expect(pathToucher([prefix])(`/api/users/${"0".repeat(padding)}${other}`)).toBe(false);
      expect(pathGranter([prefix])(`/api/users/0${value}`)).toBe(false);
    }),
    { numRuns: sized(300, 10_000) },
  );
});

it.each([
  "/v/1.10",
  "/v/1.1.0",
  "/api/users/a42",
  "/api/users/4-2",
  "/api/users/e42",
  "/api/users/0x42",
  "/2024-01-02",
  "/api/users/420",
])("a deny of other numbers leaves %s alone", (path) => {
  expect(pathToucher(["/v/1.01.1", "/api/users/42", "/2024-1-2", "/v/110"])(path)).toBe(false);
});
