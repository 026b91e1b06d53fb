import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { compile } from "../docs/compile.ts";
import { readPage } from "../docs/markdown.ts";
import { thorough } from "../support/size.ts";
import { program, removePrograms } from "../vite/program.ts";

/* The approver of docs/how-to/approve-on-a-terminal.md, run as a person would. */

const page = readPage("docs/how-to/approve-on-a-terminal.md");
const [example] = page.blocks.filter(({ info }) => info === "ts terminal");
afterAll(removePrograms);

async function run(name: string, typed: string): Promise<{ said: string; shown: string }> {
  const root = program({ "package.json": '{ "type": "module" }', "delete-note.ts": example?.text ?? "" });
  const child = spawn(process.execPath, ["--conditions=keyhole-source", join(root, "delete-note.ts"), name]);
  const output = { said: "", shown: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (output.said += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (output.shown += chunk));
  child.stdin.end(typed);
  await once(child, "close");
  return output;
}

it("allows the call for a typed yes", async () => {
  const { said, shown } = await run("todo", "yes\n");
  expect(said).toBe("todo is deleted.\n");
  expect(shown).toContain("delete_note@1.0.0");
  expect(shown).toContain('{"name":"todo"}');
});

it("denies the call for anything else, and shows nothing that moves the cursor or turns the text around", async () => {
  const { said, shown } = await run("\u009b2J\u202etxt.todo", "y\n");
  expect(said).toBe("APPROVAL_DENIED\n");
  expect(shown).toContain(String.raw`\u009b2J\u202etxt.todo`);
  expect(shown).not.toMatch(/[\u0080-\uffff]/);
});

if (thorough) {
  it("compiles", async () => {
    expect(await compile([page], "ts terminal")).toEqual([]);
  });
}
