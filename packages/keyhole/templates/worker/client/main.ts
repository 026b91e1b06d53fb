import { createInterface } from "node:readline/promises";
import { ask } from "./edge.ts";

// npm run call -- save_note '{"path":"notes/todo.txt","text":"Water the plants."}'
const [name = "word_count", input = '{"text":"Water the plants."}'] = process.argv.slice(2);

/** Printable ASCII alone: a model's words could move the cursor, or turn the text around. */
const plain = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Asks the person at the terminal about each call that waits. Only `yes` allows a call, once. */
async function answerQuestions(signal: AbortSignal): Promise<void> {
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  while (!signal.aborted) {
    const { approvals = [] } = await ask("/v1/approvals");
    for (const { approvalId, tool, input, reason } of approvals) {
      console.error(plain(`${tool} asks: ${reason} Input: ${JSON.stringify(input)}`));
      console.error('Type "yes" to allow this call once:');
      const { value } = await lines.next();
      await ask(`/v1/approvals/${approvalId}`, { answer: value?.trim() === "yes" ? "allow" : "deny" });
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

const done = new AbortController();
const answering = answerQuestions(done.signal);
const result = await ask(`/v1/tools/${name}/calls`, { input: JSON.parse(input) });
done.abort();
await answering;
console.log(result.ok === true ? result.data : (result.result?.error ?? result));
process.exit(result.ok === true ? 0 : 1);
