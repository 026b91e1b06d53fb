import { type AuditEvent, verifyChain } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";

describe("a log", () => {
  it.each([
    ["null", null],
    ["text", "event"],
    ["a number that JSON does not have", { seq: 1n }],
    ["a seq that throws", Object.defineProperty({}, "seq", { get: fail, enumerable: true })],
    ["a seq that is text", { seq: "0", prev: "", hash: "" }],
  ])("that holds %s is refused, not thrown for", (_, event) => {
    expect(verifyChain([event as unknown as AuditEvent])).toMatchObject({ ok: false });
  });
});

function fail(): never {
  throw new Error("read me not");
}
