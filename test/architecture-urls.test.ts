import { globSync, readFileSync } from "node:fs";
import { parseSync, Visitor } from "vite";
import { describe, expect, it } from "vitest";
import { root } from "./support/sources.ts";

const own = "packages/kernel/src/support/parse-url.ts";

/** What runs inside an isolate holds up nobody but itself; what a person sets up is nobody else's text. */
const exempt = [
  /^packages\/worker-host\/src\/(?:tools\/|guest\/harden\/response\.ts$)/,
  /^packages\/playground\/src\/(?:app\/SearchSettings\.tsx|client\/(?:search|edge)-settings\.ts|policy\/edit\.ts)$/,
];

/** Each place that gives the platform's `URL` something else than a text of ours. */
function faults(path: string, text: string): string[] {
  const { program } = parseSync(path, text);
  const found: string[] = [];
  const fault = ({ start }: { readonly start: number }): void => {
    found.push(`${path}:${text.slice(0, start).split("\n").length}`);
  };
  new Visitor({
    NewExpression(node) {
      if (node.callee.type !== "Identifier" || node.callee.name !== "URL") return;
      const given = text.slice(node.arguments[0]?.start ?? node.end, node.end);
      if (!given.endsWith("import.meta.url)") && !given.startsWith("`data:")) fault(node);
    },
    CallExpression(node) {
      if (/^URL\.(?:canParse|parse)$/.test(text.slice(node.callee.start, node.callee.end))) fault(node);
    },
  }).visit(program);
  return found;
}

const paths = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root }).sort();

describe("foreign text becomes a URL in parseUrl() alone", () => {
  it("in all packages", () => {
    expect(paths).toContain(own);
    const checked = paths.filter((path) => path !== own && !exempt.some((each) => each.test(path)));
    expect(checked.flatMap((path) => faults(path, readFileSync(root + path, "utf8")))).toEqual([]);
  });

  it.each(["new URL(text)", "new URL(text, base)", "URL.canParse(text)", "URL.parse(text)"])(
    "and this is found: %s",
    (text) => {
      expect(faults("x.ts", text)).toHaveLength(1);
    },
  );

  it.each(['new URL("./a.ts", import.meta.url)', "new URL(`data:text/javascript,${a}`)"])(
    "and this is not: %s",
    (text) => {
      expect(faults("x.ts", text)).toEqual([]);
    },
  );
});
