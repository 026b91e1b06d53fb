import type { Approver } from "@keyhole/kernel";
import type { CommandIo } from "../io.ts";

/** Printable ASCII alone: a model's words could move the cursor, or turn the text around. */
const plain = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Asks the person at the terminal, one question after the other. `undefined` where there is no terminal: then every question is a denial. */
export function terminalApprover(io: CommandIo): Approver | undefined {
  if (io.ask === undefined) return undefined;
  const ask = io.ask.bind(io);
  let before: Promise<unknown> = Promise.resolve();
  return (request, signal) => {
    const answer = before.then(async () => {
      const grants = request.grants.map((grant) => `  grant: ${grant}`);
      const lines = [`${request.tool} asks: ${request.reason}`, `  input: ${JSON.stringify(request.input)}`, ...grants];
      io.note(lines.map((line) => `${plain(line)}\n`).join(""));
      const said = await ask('Type "yes" to allow this call once: ', signal);
      return said?.trim() === "yes"
        ? ({ answer: "allow", scope: "once", approver: "terminal" } as const)
        : ({ answer: "deny", approver: "terminal", reason: "The person at the terminal did not type yes." } as const);
    });
    before = answer.catch(() => {});
    return answer;
  };
}
