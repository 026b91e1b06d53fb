import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, it } from "vitest";
import { readPage } from "../../docs/markdown.ts";
import { packedApp, removePackedApps } from "../../support/packed-app.ts";

afterAll(removePackedApps);

const page = readPage("docs/start.md");

function block(info: string): string {
  const found = page.blocks.find((each) => each.info === info);
  if (!found) throw new Error(`docs/start.md has no block ${info}.`);
  return found.text;
}

/** Times and digests differ from run to run. */
const steady = (output: string): string =>
  output
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/blake3:[0-9a-f]{64}/g, "DIGEST")
    .trim();

/** The steps of the page, as its reader takes them. */
it("docs/start.md shows what its reader gets", { timeout: 120_000 }, async () => {
  const app = packedApp({
    "main.js": block("js main.js"),
    "policy.json": '{ "version": "1", "posture": "standard" }',
  });
  const node = async (args: readonly string[], typed = ""): Promise<string> => {
    const child = spawn(process.execPath, args, { cwd: app });
    // A person types when the question has been shown.
    child.stderr.on("data", (shown: Buffer) => void (shown.includes("Type") && child.stdin.end(typed)));
    return `${await text(child.stdout)}${await text(child.stderr)}`;
  };
  expect((await node(["main.js"])).trim()).toBe(block("text refusal"));

  await writeFile(join(app, "policy.json"), block("json policy.json"));
  const approved = await node(["main.js"], "yes\n");
  expect(approved).toContain(block("text question"));
  expect(approved).toContain("{ byteLength: 18, path: 'notes/todo.txt' }");
  expect(await readFile(join(app, "workspace/notes/todo.txt"), "utf8")).toBe("Water the plants.\n");
  expect(await node(["main.js"], "n\n")).toContain("APPROVAL_DENIED");

  await writeFile(join(app, "main.js"), block("js main.js").replace("notes/todo.txt", "secrets/key.txt"));
  expect(await node(["main.js"], "yes\n")).toContain("CAPABILITY_DENIED");

  const verified = await node(["node_modules/keyhole/dist/cli.js", "verify", "audit.jsonl"]);
  const shape = (output: string): string => steady(output).replaceAll(/\d+ events, 0 to \d+/g, "EVENTS");
  expect(shape(verified)).toBe(shape(block("text verify")));
});
