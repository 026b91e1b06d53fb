import fc from "fast-check";
import { expect, it } from "vitest";
import { identityOf, readTokens } from "../../packages/edge/src/app/auth.ts";
import { isTenant } from "../../packages/edge/src/app/names.ts";

const units = fc.array(fc.oneof(fc.integer({ min: 0xd700, max: 0xe000 }), fc.integer({ min: 0, max: 0xffff })), {
  maxLength: 90,
});
const anyText = units.map((each) => String.fromCharCode(...each));
const text = fc.oneof(anyText, fc.string({ maxLength: 300, size: "max" }));

/** A name as each system gives it back. */
const ways: readonly ((name: string) => string)[] = [
  (name) => new TextDecoder().decode(new TextEncoder().encode(name)),
  (name) => decodeURIComponent(encodeURIComponent(name)),
  (name) => decodeURIComponent(new URL(`https://a.example/${encodeURIComponent(name)}/x`).pathname.split("/")[1] ?? ""),
];

it("the name of a tenant comes back from each encoding, and leaves room in a bucket's key", () => {
  fc.assert(
    fc.property(text, (name) => {
      fc.pre(isTenant(name));
      expect(ways.map((way) => way(name).replace(/^\ufeff/, ""))).toEqual(ways.map(() => name.replace(/^\ufeff/, "")));
      expect(encodeURIComponent(name).length).toBeLessThanOrEqual(256);
    }),
  );
});

const refused = ["", ".", "..", "\ud800", "a\udfff", "\ufffd\ufffd\ufffd", "x".repeat(257), "€".repeat(256)];

it.each(refused)("is not %j", (name) => {
  const table = JSON.stringify({ ["0".repeat(64)]: { subject: "one", scopes: [], tenant: name } });
  expect(() => readTokens(table)).toThrow("a tenant's at most 256 bytes");
  expect(identityOf({ subject: "one", scopes: [], tenant: name })).toBeUndefined();
});

it("a caller has a name likewise, which begins no key of a bucket", () => {
  const isCaller = (subject: string): boolean => identityOf({ subject, scopes: [] }) !== undefined;
  expect(["a", "€".repeat(256), "."].map(isCaller)).toEqual([true, true, true]);
  expect(["", "\ud800", "x".repeat(257)].map(isCaller)).toEqual([false, false, false]);
});
