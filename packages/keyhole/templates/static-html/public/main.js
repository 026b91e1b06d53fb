import { startKernel } from "./keyhole/keyhole.js";
import { askInPage } from "./approvals.js";
import saveNote from "./packages/save-note.json" with { type: "json" };
import wordCount from "./packages/word-count.json" with { type: "json" };
import policy from "./policy.json" with { type: "json" };

const element = (id) => document.getElementById(id);
const examples = {
  word_count: { text: "Water the plants." },
  save_note: { path: "notes/todo.txt", text: "Water the plants." },
};

// The kernel runs in a worker, and each tool in an isolate of its own. A rejection says why no kernel started.
const starting = startKernel({ policy, tools: [saveNote, wordCount], approver: askInPage });
starting.catch((error) => (element("result").textContent = String(error)));

const showExample = () => (element("input").value = JSON.stringify(examples[element("tool").value]));
element("tool").addEventListener("change", showExample);
showExample();

element("call").addEventListener("click", async () => {
  element("result").textContent = "…";
  try {
    const kernel = await starting;
    const result = await kernel.call(element("tool").value, JSON.parse(element("input").value), { caller: "agent" });
    element("result").textContent = JSON.stringify(result.ok ? result.data : result.error, undefined, 2);
  } catch (error) {
    element("result").textContent = String(error);
  }
});

element("save").addEventListener("click", async () => {
  const events = await (await starting).audit.read();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(events.map((event) => `${JSON.stringify(event)}\n`)));
  link.download = "audit.jsonl";
  link.click();
  URL.revokeObjectURL(link.href);
});
