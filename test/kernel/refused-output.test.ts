import fc from "fast-check";
import { normalizers } from "@keyhole/kernel/normalizers";
import { describe, expect, it } from "vitest";
import { previewOf } from "../../packages/kernel/src/guest/preview.ts";
import * as limits from "../../packages/kernel/src/limits.ts";
import { openKernel, toolOf } from "../support/kernel.ts";

const ofNumbers = { output: { kind: "json", schema: { type: "array", items: { type: "number" } } } };

describe("the error of a refused output", () => {
  it.each<[string, unknown, Record<string, unknown>, string, unknown]>([
    ["a class instance beside an id", { id: 7, at: new Map() }, {}, "NOT_NORMALIZABLE", '{"id":7,"at":{}}'],
    ["no text", { id: 7 }, { output: { kind: "text" } }, "NOT_NORMALIZABLE", '{"id":7}'],
    ["no bytes", "order 7", { output: { kind: "binary" } }, "NOT_NORMALIZABLE", '"order 7"'],
    ["another form than the contract", { id: 7 }, ofNumbers, "INVALID_OUTPUT", '{"id":7}'],
    ["one byte too much", "é", { bounds: { outputBytes: 3 } }, "BOUNDS_EXCEEDED", '"é"'],
    [
      "bytes too much",
      new Uint8Array(4),
      { output: { kind: "binary" }, bounds: { outputBytes: 3 } },
      "BOUNDS_EXCEEDED",
      "<4 bytes>",
    ],
  ])("shows the value: %s", async (_, value, more, code, unchecked) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => value, more));
    const result = await kernel.call("subject", {});
    expect(result).toMatchObject({ ok: false, error: { code, details: { unchecked } } });
  });

  it.each([
    [limits.explanationLength, '"'],
    [limits.explanationLength + 1, "…"],
  ])("shows a text of %i units up to its bound", async (length, last) => {
    const { kernel } = await openKernel();
    kernel.registerTrusted(toolOf(() => "x".repeat(length - 2), { bounds: { outputBytes: 1 } }));
    const result = await kernel.call("subject", {});
    const { unchecked } = (result.ok ? {} : result.error.details) as { unchecked: string };
    expect(unchecked).toHaveLength(limits.explanationLength);
    expect(unchecked.at(-1)).toBe(last);
  });

  it("shows no value that its normalizer has yet to pass", async () => {
    const own = normalizers([{ name: "own", version: "1.0.0", normalize: (output) => output }]);
    const { kernel } = await openKernel({ normalizers: own });
    for (const value of ["secret", [1n, "secret"]]) {
      const name = typeof value === "string" ? "contract" : "form";
      kernel.registerTrusted(toolOf(() => value, { ...ofNumbers, name, normalizer: "own" }));
      const result = await kernel.call(name, {});
      expect(result).toMatchObject({ ok: false });
      expect(result.ok || JSON.stringify(result.error.details)).not.toContain("unchecked");
    }
  });

  it("leaves the value out of the log", async () => {
    const { kernel, events } = await openKernel();
    kernel.registerTrusted(toolOf(() => ["canary", 1n]));
    await kernel.call("subject", {});
    expect(JSON.stringify(await events())).not.toContain("canary");
  });
});

describe("the preview of a value", () => {
  it("has a bound, and never throws", () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withMap: true, withTypedArray: true, withSparseArray: true }),
        (value) => {
          const preview = previewOf(value);
          expect(preview.length).toBeLessThanOrEqual(limits.messageLength);
          expect(preview.isWellFormed()).toBe(true);
        },
      ),
    );
  });

  it("of plain data is its JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 2 }), (value) => {
        const text = JSON.stringify(value);
        if (text.length <= limits.explanationLength) expect(previewOf(value)).toBe(text.toWellFormed());
      }),
    );
  });

  it.each<[string, () => unknown, RegExp]>([
    [
      "a cycle",
      () => {
        const all: unknown[] = [];
        all.push(all);
        return all;
      },
      /^\[\[\[/,
    ],
    [
      "a getter",
      () => ({
        get a() {
          throw new Error("called");
        },
      }),
      /^\{"a":<getter>\}$/,
    ],
    [
      "a proxy that throws",
      () => [
        "id",
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error("trap");
            },
          },
        ),
      ],
      /^\["id",…$/,
    ],
    ["endless keys", () => ({ ["k".repeat(1 << 20)]: "v".repeat(1 << 20) }), /^\{"kkk/],
    ["nothing and functions", () => [undefined, () => 1, Symbol("s")], /^\[undefined,<function>,<symbol>\]$/],
  ])("shows %s", (_, make, expected) => {
    expect(previewOf(make())).toMatch(expected);
  });
});
