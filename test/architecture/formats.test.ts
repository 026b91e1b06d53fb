import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sourcePaths, root } from "../support/sources.ts";

const packages = ["agents", "edge", "kernel", "keyhole", "mcp", "playground", "worker-host"];
const sources = sourcePaths(...packages.map((name) => `packages/${name}/src`));
const kernel = "packages/kernel/src";

/** Formats of strings that more than one file needs, with the files that may write or read them by hand. */
const owners = [
  { format: "`name@version`", by: [`${kernel}/support/tool-names.ts`], hand: /\}@\$\{|split\("@"/ },
  { format: "the name of a tool", by: [`${kernel}/support/tool-names.ts`], hand: /\[a-z\]\[a-z0-9[_-]\]\{0,63\}/ },
  { format: "a digest", by: [`${kernel}/hash/hash.ts`], hand: /blake3\|sha256\)/ },
  { format: "a variable", by: [`${kernel}/policy/document/variables.ts`], hand: /\[A-Za-z_\]\[A-Za-z0-9_\]\{0,63\}/ },
  { format: "a domain and those below it", by: [`${kernel}/support/domain.ts`], hand: /endsWith\(`\.\$\{/ },
  {
    format: "the tokens of a JSON Pointer",
    // The canonical form alone has to stay small: with an import it is 13 bytes too large.
    by: [`${kernel}/json/normalize-error.ts`, `${kernel}/json/pointer.ts`],
    hand: /"~[01]"/,
  },
] as const;

describe("a format of strings that files share", () => {
  it.each(owners)("is written and read by its owner alone: $format", ({ by, hand }) => {
    expect(sources.filter((path) => hand.test(readFileSync(`${root}${path}`, "utf8")))).toEqual(by);
  });
});
