import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { inTs } from "../config/documents.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "keyhole-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Node itself loads modules: here by the types that it takes away. */
it("a module that does not load is refused with file and line", async () => {
  const texts = {
    "whole.ts": inTs,
    "typed.ts": inTs.replace(/};\n$/, "} satisfies object;\n"),
    "syntax.ts": inTs.replace("limits:", "limits: {{"),
    "thrown.ts": inTs.replace("export default", "\nnoSuchName();\nexport default"),
    "enum.ts": inTs.replace("export default", "enum A { B }\nexport default"),
  };
  for (const [file, text] of Object.entries(texts)) writeFileSync(join(folder, file), text);
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const program = `const { loadConfig } = await import("@keyhole/worker-host/node/config");
    const found = {};
    for (const file of ${JSON.stringify(Object.keys(texts))}) {
      const loaded = await loadConfig(file, ${JSON.stringify(folder)});
      found[file] = loaded.ok ? "ok" : loaded.message;
    }
    process.stdout.write(JSON.stringify(found));`;
  const args = ["--import", "./scripts/source.mjs", "--input-type=module", "-e", program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root });
  const lineOf = (text: string, part: string): number => text.slice(0, text.indexOf(part)).split("\n").length;
  expect(JSON.parse(stdout)).toEqual({
    "whole.ts": "ok",
    "typed.ts": "ok",
    "syntax.ts": expect.stringMatching(`^syntax\\.ts:${lineOf(texts["syntax.ts"], "limits:")}:`) as string,
    "thrown.ts": expect.stringMatching(
      `^thrown\\.ts:${lineOf(texts["thrown.ts"], "noSuchName")}:.*noSuchName`,
    ) as string,
    "enum.ts": expect.stringMatching(`^enum\\.ts:${lineOf(texts["enum.ts"], "enum A")}:`) as string,
  });
});
