import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallResult } from "@keyhole/kernel";
import { type ScriptedAnswer, scriptedApprover } from "@keyhole/kernel/testing";
import { openKernel } from "../src/kernel.ts";

/** @param answers to the questions of the call */
async function call(name: string, input: unknown, ...answers: readonly ScriptedAnswer[]): Promise<CallResult> {
  const kernel = await openKernel({ approver: scriptedApprover(...answers).approver });
  try {
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
});

test("save_note is refused without an approval, outside its grant, and where a rule denies it", async () => {
  assert.equal(codeOf(await call("save_note", { path: "notes/todo.txt", text: "" }, "deny")), "APPROVAL_DENIED");
  assert.equal(codeOf(await call("save_note", { path: "secrets/key.txt", text: "" }, "allow")), "CAPABILITY_DENIED");
  assert.equal(codeOf(await call("save_note", { path: "notes/private/a.txt", text: "" }, "allow")), "POLICY_DENIED");
});
