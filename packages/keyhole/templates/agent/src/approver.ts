import { createInterface } from "node:readline/promises";
import type { Approver } from "@keyhole/kernel";

/** Printable ASCII alone: a model's words could move the cursor, or turn the text around. */
const plain = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Asks the person at the terminal. Only `yes` allows the call, once. */
export const askAtTerminal: Approver = async ({ tool, input, grants, reason }, signal) => {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const lines = [
    `${tool} asks: ${reason}`,
    `  input: ${JSON.stringify(input)}`,
    ...grants.map((grant) => `  grant: ${grant}`),
  ];
  for (const line of lines) console.error(plain(line));
  const ended = new Promise<string>((resolve) => terminal.once("close", () => resolve("")));
  const said = await Promise.race([terminal.question('Type "yes" to allow this call once: ', { signal }), ended]);
  terminal.close();
  return said.trim() === "yes"
    ? { answer: "allow", scope: "once", approver: "terminal" }
    : { answer: "deny", approver: "terminal", reason: "The person did not type yes." };
};
