import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { visible } from "@keyhole/kernel";
import { type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { connectEdge } from "@keyhole/worker-host/edge";
import { fileSink, terminalApprover } from "@keyhole/worker-host/node";
import { lineAsker } from "@keyhole/worker-host/node/terminal";
import { openAgent } from "./agent.ts";
import { openKernel } from "./kernel.ts";
import { modelFrom } from "./model.ts";

// npm start -- "Count the words of notes/todo.txt"     KEYHOLE_EDGE and KEYHOLE_TOKEN: the tools of an edge in place of these
const model = modelOrEnd();
const { KEYHOLE_EDGE: edge, KEYHOLE_TOKEN: token = "", KEYHOLE_APPROVALS_TOKEN: approvalsToken } = process.env;
const approver = terminalApprover();
const entries: RunEntry[] = [];
const sink = fileSink("audit.jsonl");
const record = (entry: RunEntry): void => void entries.push(entry);
const local =
  edge === undefined ? await openKernel({ approver, record, files: resolve("workspace"), sink }) : undefined;
const remote =
  edge === undefined
    ? undefined
    : connectEdge(edge, token, approvalsToken === undefined ? {} : { approver, approvalsToken });
const agent = openAgent(model, (local ?? remote)!);

async function say(content: string): Promise<void> {
  for await (const part of agent.send({ role: "user", content })) {
    if (part.type === "text") process.stdout.write(visible(part.text));
    if (part.type === "call") console.error(visible(`\n→ ${part.tool} ${JSON.stringify(part.input)}`));
    if (part.type === "answer") console.error(visible(`← ${part.answer.text.slice(0, 200)}`));
    if (part.type === "refused") console.error(visible(`← not called: ${part.reason}`));
    if (part.type === "end")
      console.error(visible(`\n[${part.end}] ${part.reason ?? ""} ${JSON.stringify(agent.spent)}`));
  }
}

// Control and C stops the turn, and ends the program between turns.
let isBusy = false;
process.on("SIGINT", () => (isBusy ? agent.stop() : process.exit(130)));
const [first] = process.argv.slice(2);
const ask = lineAsker();
const next = async (): Promise<string> =>
  (await ask("\nyou (empty ends, LOCKDOWN locks): ", new AbortController().signal))?.trim() ?? "";
for (let message = first ?? (await next()); message !== ""; message = first === undefined ? await next() : "") {
  if (message === "LOCKDOWN") {
    await local?.setMode("LOCKDOWN", "Typed at the terminal");
    continue;
  }
  isBusy = true;
  await say(message);
  isBusy = false;
}
await local?.close();
if (local) writeFileSync("run.keyhole", writeRun({ entries }));

/** What the person has to set is one line, and no trace. */
function modelOrEnd(): ReturnType<typeof modelFrom> {
  try {
    return modelFrom(process.env);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
