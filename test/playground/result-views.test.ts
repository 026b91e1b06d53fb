import * as fc from "fast-check";
import { execFileSync } from "node:child_process";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it, vi } from "vitest";
import { hexLine } from "../../packages/playground/src/run/result/HexView.tsx";
import { lineOf, lineStarts, mostInLine } from "../../packages/playground/src/run/result/lines.ts";
import { ResultData } from "../../packages/playground/src/run/result/ResultData.tsx";
import { jsonLength } from "../../packages/playground/src/run/result/size.ts";
import { childrenAtOnce, treeRows, type TreeState } from "../../packages/playground/src/run/result/tree.ts";
import { viewsOf } from "../../packages/playground/src/run/result/views.ts";
import { shellQuoted } from "../../packages/playground/src/run/snippets.ts";
import { Logs } from "../../packages/playground/src/run/Logs.tsx";

const bytes = (...given: readonly number[]): Uint8Array => Uint8Array.from(given);
const ids = (data: unknown): string =>
  viewsOf(data)
    .map(({ id }) => id)
    .join(" ");

describe("the views of a result", () => {
  it.for<[string, unknown, string]>([
    ["an object", { a: 1 }, "tree raw"],
    ["a list of objects", [{ a: 1 }, { b: 2 }], "table tree raw"],
    ["what a database answers", { columns: ["a", "b"], rows: [[1, 2]] }, "table tree raw"],
    ["rows that do not fit the columns", { columns: ["a", "b"], rows: [[1]] }, "tree raw"],
    ["an object around a list", { files: [{ name: "a" }] }, "table tree raw"],
    ["a text", "hello", "text"],
    ["a text that is JSON", '{"a":1}', "tree text"],
    ["an object around a text of lines", { content: "a\nb", size: 3 }, "text tree raw"],
    ["a picture", bytes(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1), "image hex"],
    ["a picture that is a document", new TextEncoder().encode("<svg onload='x()'/>"), "text hex"],
    ["bytes that are no text", bytes(0xff, 0xfe, 0), "hex"],
    ["a number", 42, "tree raw"],
    ["nothing", undefined, "tree raw"],
  ])("%s", ([, data, expected]) => {
    expect(ids(data)).toBe(expected);
  });

  it("draw a list of a million items, or a text of 50 MB, with a few elements", () => {
    const count = (data: unknown): number =>
      renderToStaticMarkup(createElement(ResultData, { data, name: "tool" })).split("<").length;
    const list = Array.from({ length: 1_000_000 }, (_, at) => at);
    expect(count(list)).toBeLessThan(1_000);
    expect(count(`${"x".repeat(100)}\n`.repeat(500_000))).toBeLessThan(1_000);
    expect(count(new Uint8Array(50_000_000))).toBeLessThan(1_000);
  });

  it("write no text of a result of 50 MB before a person saves it, and say so", () => {
    const data = Array.from({ length: 10 }, () => ({ text: "x".repeat(5_000_000), more: [[1, "two", null]] }));
    const written = vi.spyOn(JSON, "stringify");
    const markup = renderToStaticMarkup(createElement(ResultData, { data, name: "tool" }));
    expect(written.mock.calls.filter(([value]) => value === data)).toEqual([]);
    written.mockRestore();
    expect(markup).toContain("10 items, more than 8.0 MiB: save it instead of copying");
    expect(markup).toContain("Save as tool.json");
    expect(markup).not.toContain("Raw");
  });

  it("show no invisible character", () => {
    const trick = "a\u202eb";
    for (const data of [{ [trick]: trick }, trick, [{ [trick]: trick }], { list: [[trick]] }]) {
      const markup = renderToStaticMarkup(createElement(ResultData, { data, name: "tool" }));
      expect(markup).not.toContain("\u202e");
    }
  });
});

describe("the length of a result", () => {
  it("is that of its JSON, where nothing is escaped, and ends where it is asked to", () => {
    const plain = fc.string({ unit: fc.constantFrom("a", "b", "é") });
    const leaf = fc.oneof(plain, fc.integer(), fc.boolean(), fc.constant(null));
    const tree = fc.letrec<{ readonly value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        leaf,
        fc.array(tie("value"), { maxLength: 5 }),
        fc.dictionary(plain, tie("value"), { maxKeys: 5, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(tree.value, (value) => {
        const { length } = JSON.stringify(value);
        const about = jsonLength(value, Number.POSITIVE_INFINITY);
        expect(about).toBeGreaterThanOrEqual(length);
        expect(about).toBeLessThanOrEqual(length * 1.5 + 1);
      }),
    );
    expect(jsonLength(["x".repeat(1_000), "y".repeat(1_000)], 10)).toBeLessThan(1_100);
  });
});

describe("the tree of a result", () => {
  const state = (toggled: readonly string[] = [], shown = new Map<string, number>()): TreeState => ({
    toggled: new Set(toggled),
    shown,
  });

  it("has the first items of a long list, and says how many more there are", () => {
    const list = Array.from({ length: 2_500 }, (_, at) => at);
    const rows = treeRows(list, state());
    expect(rows).toHaveLength(childrenAtOnce + 2);
    expect(rows.at(-1)).toMatchObject({ more: 1_500 });
    expect(treeRows(list, state([], new Map([["", 3_000]])))).toHaveLength(2_501);
  });

  it("opens and folds what a person presses", () => {
    const value = { a: { b: { c: 1 } } };
    const pointers = (...toggled: readonly string[]) => treeRows(value, state(toggled)).map(({ pointer }) => pointer);
    expect(pointers()).toEqual(["", "/a", "/a/b"]);
    expect(pointers("/a/b")).toEqual(["", "/a", "/a/b", "/a/b/c"]);
    expect(pointers("/a")).toEqual(["", "/a"]);
  });
});

describe("the lines of a text", () => {
  it("are those of the text, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "é") }), (text) => {
        const starts = lineStarts(text);
        expect(starts.map((_, index) => lineOf(text, starts, index).text)).toEqual(text.split("\n"));
      }),
    );
  });

  it("are cut where they are longer than a browser lays out, with the number of characters", () => {
    const text = "x".repeat(mostInLine + 5);
    expect(lineOf(text, lineStarts(text), 0)).toEqual({ text: "x".repeat(mostInLine), cut: 5 });
  });

  it("of bytes have their offset, number and letter", () => {
    expect(hexLine(new TextEncoder().encode("Keyhole\n"), 0)).toBe(
      `000000  4b 65 79 68 6f 6c 65 0a${" ".repeat(24)}  Keyhole.`,
    );
  });
});

describe("the log lines of a call", () => {
  it("are drawn as far as they are in sight, however many there are", () => {
    const logs = Array.from({ length: 100_000 }, (_, at) => ({ level: "info", message: `line ${at}` }) as const);
    const markup = renderToStaticMarkup(createElement(Logs, { logs }));
    expect(markup.match(/log-line/g)?.length).toBeLessThan(60);
    expect(markup).toContain("100,000 of 100,000 lines");
  });
});

describe("a call as a line of the shell", () => {
  it("is one word, whatever stands in it", () => {
    for (const text of ["a b", "it's", "$(touch x)", "`id`", '"\\n"', "a\nb", "!!", "'; rm -rf / #"])
      expect(execFileSync("sh", ["-c", `printf %s ${shellQuoted(text)}`], { encoding: "utf8" })).toBe(text);
  });
});
