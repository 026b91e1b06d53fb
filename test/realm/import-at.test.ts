import { expect, it } from "vitest";
import { importAt } from "@keyhole/worker-host/protocol";

const long = "a".repeat(500);

it.each([
  `import("x")`,
  `x;import ("x")`,
  `[...import("x")]`,
  `import/*a*/("x")`,
  `import//a\n("x")`,
  `import\u00a0("x")`,
  `import//a\u2028("x")`,
  `import/*${long}*/("x")`,
  `import//${long}\n("x")`,
  `import${" ".repeat(500)}("x")`,
  `/*${long}*/import("x")`,
  `\u00a0import("x")`,
  `\ufeffimport("x")`,
  `\u2028import("x")`,
  `\\u{61};import("x")`,
  "`${import('x')}`",
  `import.meta`,
  `import . meta`,
  `import/**/./**/meta.url`,
  `import.defer("x")`,
  `import "x"`,
  `import'x'`,
  `import{a}from"x"`,
  `import*as a from"x"`,
  `import a from "x"`,
  `import a,{b} from "x"`,
  `import a, * as b from "x"`,
  `import defer * as a from "x"`,
  `import source a from "x"`,
  `import from from "x"`,
  `import source from from "x"`,
  `a\nimport\n{a}\nfrom\n"x"`,
  `import ${long.repeat(3)} from "x"`,
  `export*from"x"`,
  `export * as a from "x"`,
  `export {a} from "x"`,
  `export{"a}" as b}from"x"`,
  `export {a /* } { */} from "x"`,
  `export/**/{a}/**/from/**/"x"`,
  `export {"${long.repeat(3)}" as a} from "x"`,
  `import \\u{61}bc from "x"`,
  `import x, {\\u{61}} from "x"`,
  `import x\\u0061 from "x"`,
  `import source a/*${long}*/from "x"`,
  `import a,${" ".repeat(500)}{b} from "x"`,
  `import.\\u{6d}eta`,
  `import.later("x")`,
  // White space to engines before Unicode 6.3.
  `import\u180e"x"`,
  `import a\u180efrom "x"`,
  `export {\\u{61}} from "x"`,
  `export {default as a\\u{62}} from "x"`,
  `export {a}${" ".repeat(500)}from "x"`,
  `export {a} from/*${long}*/"x"`,
  `export {a}${" ".repeat(199)}/**/from "x"`,
  // Only the engine knows that these are text.
  `"import(1)"`,
  `// import.meta`,
])("finds what can be an import in %j", (code) => {
  expect(importAt(code)).toBeDefined();
});

it.each([
  `a.import("x")`,
  `a?.import("x")`,
  `reimport("x")`,
  `imports("x")`,
  `$import("x")`,
  `import_("x")`,
  `éimport("x")`,
  `importé("x")`,
  `\\u0061import("x")`,
  `a\ud835\udc00import("x")`,
  `{import:1}`,
  `export{a as default}`,
  `export default 1`,
  `export const a=1;`,
  `export{a};var from="x"`,
  `"we import data from the file"`,
  `"import/export"`,
  `"from 'x'"`,
  `"import, then"`,
  `"the import. It"`,
  `"\\nimport\\n"`,
  `"cannot import module\\n"`,
  `"import — then"`,
  "`no import ${a}`",
  `import`,
  `export`,
])("finds none in %j", (code) => {
  expect(importAt(code)).toBeUndefined();
});

it("says where it is", () => {
  expect(importAt(`const important = 1; await import("x")`)).toBe(27);
});

it.each(["import ", "export{", "import/*", "import//", `import ${"a".repeat(900)} `, `import${" ".repeat(190)}a `])(
  "takes endless %j for an import, and reads no more than its budget",
  (piece) => {
    const code = piece.repeat(Math.ceil(4_194_304 / piece.length));
    let read = 0;
    const counted = Object.assign(Object(code) as string, {
      charCodeAt: (at: number) => {
        read += 1;
        return code.charCodeAt(at);
      },
    });
    expect(importAt(counted)).toBeDefined();
    expect(read).toBeLessThan(2_000_000);
  },
);
