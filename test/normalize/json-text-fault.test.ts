import { jsonTextFault } from "@keyhole/kernel/foreign";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const faultOf = (text: string): object | undefined => {
  const fault = jsonTextFault(text);
  return fault && { reason: fault.reason, path: fault.path };
};
const inexact = (path: string): object => ({ reason: "inexact-number", path });
const twice = (path: string): object => ({ reason: "repeated-name", path });

describe("a JSON text of which two readers take two values", () => {
  it.each([
    ["9007199254740992", undefined],
    ["9007199254740993", inexact("")],
    ["-9007199254740993", inexact("")],
    ["1917043659912705296", inexact("")],
    ["1152921504606846976", undefined],
    ["100000000000000000000000", inexact("")],
    ["0.1", undefined],
    ["-0", undefined],
    ["1e23", undefined],
    ["1e400", inexact("")],
    ["-1E400", inexact("")],
    ["1e-400", undefined],
    ["1.7976931348623157e+308", undefined],
    [`1${"0".repeat(400)}`, inexact("")],
    ['"9007199254740993 \\" 1e400"', undefined],
    ['{"a":[1,{"b/c":[0,9007199254740993]}],"d":1e400}', inexact("/a/1/b~1c/1")],
    ['{"a":1,"b":{"a":1},"a":2}', twice("/a")],
    [String.raw`[{"a":{},"\u0061":[]}]`, twice("/0/a")],
    ['[{"a":1},{"a":1}]', undefined],
  ])("is told with its place: %s", (text, fault) => {
    expect(faultOf(text)).toEqual(fault);
  });

  it("is none that a double of another program was written to, up to 2^53", () => {
    const value = fc.oneof(
      fc.maxSafeInteger(),
      fc.double({ noDefaultInfinity: true, noNaN: true, max: 2 ** 53, min: -(2 ** 53) }),
    );
    fc.assert(
      fc.property(fc.jsonValue(), value, (other, number) => {
        expect(jsonTextFault(JSON.stringify([{ number }, fc.stringify(other)]))).toBeUndefined();
      }),
    );
  });

  it("has each integer that BigInt and JSON.parse read apart", () => {
    fc.assert(
      fc.property(fc.bigInt(), (integer) => {
        const isSame = Number.isFinite(Number(integer)) && BigInt(JSON.parse(`${integer}`)) === integer;
        expect(faultOf(`{"id":${integer}}`)).toEqual(isSame ? undefined : inexact("/id"));
      }),
    );
  });
});
