import { globSync, readFileSync } from "node:fs";
import { parseSync, Visitor } from "vite";
import { expect, it } from "vitest";
import { compared, deciding, forms } from "./architecture/compared-texts.ts";
import { root } from "./support/sources.ts";

const partial = /^(?:startsWith|endsWith|to(?:Locale)?(?:Lower|Upper)Case|normalize|localeCompare)$/;

/** How often a file asks for a part of a text, or folds it. */
function comparisons(path: string, text: string): number {
  let count = 0;
  new Visitor({
    CallExpression({ callee }) {
      if (callee.type !== "MemberExpression") return;
      const { property } = callee;
      const name = property.type === "Identifier" && !callee.computed ? property.name : "";
      if (partial.test(name)) count++;
    },
  }).visit(parseSync(path, text).program);
  return count;
}

it("texts are compared in part, or folded, where one form is made of them, and where a reason is on the list", () => {
  const paths = globSync(
    deciding.map((each) => `packages/${each}`),
    { cwd: root },
  ).filter((path) => /\.tsx?$/.test(path) && !forms.some((each) => path.startsWith(`packages/${each}`)));
  const found = paths.flatMap((path) => {
    const count = comparisons(path, readFileSync(root + path, "utf8"));
    return count > 0 ? [[path.replace("packages/", ""), count] as const] : [];
  });
  expect(found.length).toBeGreaterThan(30);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(Object.entries(compared).map(([path, [count]]) => [path, count])),
  );
});

it.each([
  ["a.startsWith(b)", 1],
  ["a?.b.endsWith(c)", 1],
  ["a.toLowerCase() === b.toUpperCase()", 2],
  ['a.normalize("NFC").localeCompare(b)', 2],
  ["a === b; c.includes(d); normalize(e); f.startsWith", 0],
])("%s counts as %i", (text, count) => {
  expect(comparisons("x.ts", text)).toBe(count);
});
