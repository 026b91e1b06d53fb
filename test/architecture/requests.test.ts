import { globSync, readFileSync } from "node:fs";
import { parseSync, Visitor } from "vite";
import { expect, it } from "vitest";
import { root } from "../support/sources.ts";

/** What runs in a page. The rest of these packages is Node's, or a guest's, which has no `fetch` of the platform. */
const inPages = /^packages\/(?:kernel|worker-host|mcp|agents|bus|playground)\/src\/(?!node\/|testing\/|http\/|tools\/)/;

/** They load files of the program itself, which may need the page's cookies. */
const ownFiles = [
  "packages/playground/src/authoring/packer.worker.ts",
  "packages/worker-host/src/browser/interpreter.ts",
];

/** Whether a module calls the platform's `fetch`, or takes it. */
function fetches(path: string, text: string): boolean {
  let found = false;
  new Visitor({
    CallExpression({ callee }) {
      if (callee.type === "Identifier" && callee.name === "fetch") found = true;
    },
    MemberExpression({ object, property }) {
      const isGlobal = object.type === "Identifier" && /^(?:globalThis|self|window)$/.test(object.name);
      if (isGlobal && property.type === "Identifier" && property.name === "fetch") found = true;
    },
  }).visit(parseSync(path, text).program);
  return found;
}

it("each request of a page is made apart from the page", () => {
  expect(fetches("x.ts", "const send = globalThis.fetch;")).toBe(true);
  expect(fetches("x.ts", "fetch(url);")).toBe(true);
  expect(fetches("x.ts", "context.fetch(url);")).toBe(false);
  const paths = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root }).filter((path) => inPages.test(path));
  const asking = paths
    .map((path) => ({ path, text: readFileSync(`${root}${path}`, "utf8") }))
    .filter(({ path, text }) => text.includes("fetch") && fetches(path, text));
  expect(asking.length).toBeGreaterThan(4);
  const others = asking.filter(({ text }) => !text.includes("...apartFromPage"));
  expect(others.map(({ path }) => path).toSorted()).toEqual(ownFiles);
});
