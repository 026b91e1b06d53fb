import { globSync, readFileSync } from "node:fs";
import { analyse } from "scslre";
import { parseSync, Visitor } from "vite";
import { describe, expect, it } from "vitest";
import { root } from "./support/sources.ts";

/** Expressions that take more than linear time, and may: each with the reason. */
const allowed = new Map([
  ["agents/src/cloudflare-codemode.ts /;+$/", "the code of the program that embeds it"],
  ["kernel/src/capability/matching/hosts.ts /\\.[^.]*[^.\\d][^.]*$/", "a name of a host, 253 characters at most"],
  ["kernel/src/schema/formats/uris.ts /^[^/?#]*\\/\\/[^/?#]*\\[([^\\]]*)\\]/", "the grammar admits one bracket"],
  ["keyhole/src/plugin/ids.ts /[?#].*$/s", "always matches from the first"],
  ["keyhole/src/plugin/ids.ts /\\?.*$/", "a path of a source file"],
  ["keyhole/src/plugin/lists.ts /^\\0keyhole-all:(.*?):(.*):$/", "an id that the plugin wrote"],
  ["keyhole/src/plugin/own-imports.ts /\\?.*$/s", "always matches from the first"],
  ["keyhole/src/command/dev/calls.ts /^\\s*(\\S*)\\s*(.*)$/s", "a line that a person types"],
  ["keyhole/src/command/narrow.ts / *[^ ]+/g", "a line of help"],
  ["keyhole/src/command/init/init.ts /^-+|-+$/g", "the name of a folder"],
  ["playground/src/ui/Markdown.tsx /\\s*\\n\\s*/g", "a page of the documentation"],
  ["playground/src/ui/Markdown.tsx /\\[([^\\]]+)\\]\\([^)]*\\)/g", "a page of the documentation"],
  ["playground/src/authoring/open-files.ts /^[_\\d]+|_+$/g", "the name of a file that a person opens"],
  ["playground/src/authoring/source-notes.ts /\\s*\\(tool\\.ts:(\\d+):(\\d+)\\)$/", "a message of the packer"],
  ["playground/src/run/verdict.ts /^\\S+@\\S+ (?=needs )/", "a message of the kernel, 2,000 characters at most"],
  ["worker-host/src/node/browser/rules.ts /\\?.*$/s", "always matches from the first"],
  ["worker-host/src/node/browser/rules.ts /#.*$/s", "always matches from the first"],
  ["worker-host/src/http/reply.ts /;.*$/s", "always matches from the first"],
  [
    "worker-host/src/brokers/db-d1.ts /^(?:D1_\\w+: )?([^]*?)(?:(?: at offset \\d+)?: (SQLITE_[A-Z]+)[^]*)?$/",
    "a message of D1",
  ],
  [
    "worker-host/src/wasm/guest/platform/http.ts /^[\\t\\n\\r ]+|[\\t\\n\\r ]+$/g",
    "in the isolate, whose fuel it takes",
  ],
  ["worker-host/src/tools/operations/metrics.ts /^ *(\\d+) +(\\d+) +(\\d+) +(\\S+) +(.+)$/gm", "the output of ps"],
  [
    "worker-host/src/tools/operations/metrics.ts /^([^,\\n]*), ([^,\\n]*), ([^,\\n]*), ([^,\\n]*), (.+)$/gm",
    "the output of nvidia-smi",
  ],
]);

/** The expressions of a file of which the time of some text grows faster than its length. */
function slow(path: string): string[] {
  const text = readFileSync(root + path, "utf8");
  if (!text.includes("/")) return [];
  const found: string[] = [];
  new Visitor({
    Literal(node) {
      if (!("regex" in node)) return;
      const { pattern, flags } = node.regex;
      const { reports } = analyse({ source: pattern, flags }, { maxReports: 1 });
      if (reports.length > 0) found.push(`${path.replace("packages/", "")} ${node.raw}`);
    },
  }).visit(parseSync(path, text).program);
  return found;
}

describe("an expression over a foreign text takes linear time", () => {
  it("in all packages, but where the text is short or nobody's attack", () => {
    const found = globSync("packages/*/src/**/*.{ts,tsx}", { cwd: root }).flatMap(slow);
    expect([...new Set(found)].sort()).toEqual([...allowed.keys()].sort());
  });
});
