import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type CallResult, createKernel } from "@keyhole/kernel";
import { type ScriptedAnswer, scriptedApprover } from "@keyhole/kernel/testing";
import { nodeHost } from "@keyhole/worker-host/node";
import { memoryBrokers } from "@keyhole/worker-host/testing";
import saveNote from "../packages/save-note.json" with { type: "json" };
import wordCount from "../packages/word-count.json" with { type: "json" };

/* The packages have the same hashes as those in the page or at the edge. */

const policy: unknown = JSON.parse(readFileSync(new URL("../policy.json", import.meta.url), "utf8"));
const memory = await memoryBrokers();

/** @param answers to the questions of the call */
async function call(name: string, input: unknown, ...answers: readonly ScriptedAnswer[]): Promise<CallResult> {
  const { approver } = scriptedApprover(...answers);
  const kernel = await createKernel({ host: nodeHost(), brokers: memory.brokers, policy, approver });
  try {
    for (const tool of [saveNote, wordCount]) assert.ok(kernel.register(tool).ok);
    return await kernel.call(name, input);
  } finally {
    await kernel.close();
  }
}

const codeOf = (result: CallResult): string | undefined => (result.ok ? undefined : result.error.code);

test("word_count counts words, and nobody is asked", async () => {
  const result = await call("word_count", { text: "Water the plants." });
  assert.deepEqual(result.ok && result.data, { words: 3 });
});

test("save_note saves a note after an approval", async () => {
  const result = await call("save_note", { path: "notes/todo.txt", text: "Water the plants." }, "allow");
  assert.equal(result.ok && result.data, "Saved 17 characters to notes/todo.txt.");
  assert.equal(await memory.file("notes/todo.txt"), "Water the plants.");
});

test("save_note is refused without an approval, outside its grant, and where a rule denies it", async () => {
  assert.equal(codeOf(await call("save_note", { path: "notes/a.txt", text: "" }, "deny")), "APPROVAL_DENIED");
  assert.equal(codeOf(await call("save_note", { path: "secrets/key.txt", text: "" })), "CAPABILITY_DENIED");
  assert.equal(codeOf(await call("save_note", { path: "notes/private/a.txt", text: "" })), "POLICY_DENIED");
  assert.equal(await memory.file("notes/a.txt"), undefined);
});
