import type { Approver } from "@keyhole/kernel";
import { questionLines } from "../approve/question-lines.ts";
import type { CommandIo } from "../io.ts";

/** Asks the person at the terminal, one question after the other. `undefined` where there is no terminal: then every question is a denial. */
export function terminalApprover(io: CommandIo): Approver | undefined {
  if (io.ask === undefined) return undefined;
  const ask = io.ask.bind(io);
  let before: Promise<unknown> = Promise.resolve();
  return (request, signal) => {
    const answer = before.then(async () => {
      io.note(`${questionLines(request).join("\n")}\n`);
      const said = await ask('Type "yes" to allow this call once: ', signal);
      return said?.trim() === "yes"
        ? ({ answer: "allow", scope: "once", approver: "terminal" } as const)
        : ({ answer: "deny", approver: "terminal", reason: "The person at the terminal did not type yes." } as const);
    });
    before = answer.catch(() => {});
    return answer;
  };
}
