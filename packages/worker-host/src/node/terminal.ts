import { once } from "node:events";
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { setTimeout as delay } from "node:timers/promises";
import { type ApprovalRequest, type Approver, type JsonValue, pointerOf } from "@keyhole/kernel";
import { questionSentence } from "@keyhole/kernel/policy";
import { knownOptions } from "@keyhole/kernel/foreign";
import { visible } from "@keyhole/kernel/visible";

export interface TerminalStreams {
  /** Default: standard input. */
  readonly input?: NodeJS.ReadableStream;
  /** Default: standard error. Standard output belongs to the program's answers. */
  readonly output?: NodeJS.WritableStream;
}

/**
 * Asks for one line. `undefined` where the input ended, also by Ctrl-D.
 *
 * @param question shown before the prompt: what was typed until a person can have read it does not count
 */
export type AskLine = (prompt: string, signal: AbortSignal, question?: string) => Promise<string | undefined>;

export interface TerminalApproverOptions extends TerminalStreams {
  /** The name of the person in policy and log. Default `terminal`. */
  readonly approver?: string;
  /** Default: {@link lineAsker} of the streams. */
  readonly ask?: AskLine;
}

/** As long as the buttons of a page rest. */
const readMs = 700;

/** Asks at a terminal. Ctrl-C reaches the program's own listeners, and ends the program where there are none. */
export function lineAsker({ input = process.stdin, output = process.stderr }: TerminalStreams = {}): AskLine {
  return async (prompt, signal, question) => {
    const lines = createInterface({ input, output });
    lines.once("SIGINT", () => process.emit("SIGINT") || process.exit(130));
    const ended = once(lines, "close").then(() => undefined);
    try {
      if (question !== undefined) {
        output.write(question);
        // Lines that come meanwhile have no listener.
        await Promise.race([delay(readMs, undefined, { signal }), ended]);
        // The line that was begun.
        if (lines.terminal) for (const name of ["e", "u"]) lines.write(null, { ctrl: true, name });
      }
      return await Promise.race([ended, lines.question(visible(prompt), { signal })]);
    } catch (error) {
      // Readline tells of Ctrl-D as of an abort, and of a question after the end of the input by a code.
      const isEnd =
        error instanceof Error && /^(ABORT_ERR|ERR_USE_AFTER_CLOSE)$/.test(String(Reflect.get(error, "code")));
      if (signal.aborted || !isEnd) throw error;
      return undefined;
    } finally {
      lines.close();
    }
  };
}

/**
 * Asks the person at the terminal. Only `yes` allows a call, once. What was typed before the question was shown does not count.
 *
 * @example
 * const kernel = await createKernel({ host: nodeHost(), policy, approver: terminalApprover() });
 */
export function terminalApprover(given: TerminalApproverOptions = {}): Approver {
  const names = { input: true, output: true, approver: true, ask: true } as const;
  const { approver = "terminal", ask = lineAsker(given) } = knownOptions(given, names, "terminalApprover");
  const denied = { answer: "deny", approver, reason: "The person at the terminal did not type yes." } as const;
  return async (request, signal) => {
    const question = `${questionLines(request).join("\n")}\n`;
    // A terminal has no passkey.
    const prompt = request.passkey ? "Press Enter to deny the call: " : 'Type "yes" to allow this call once: ';
    const said = await ask(prompt, signal, question);
    return said?.trim() === "yes" ? { answer: "allow", scope: "once", approver } : denied;
  };
}

/** Printable ASCII alone: a model's words could move the cursor, turn the text around, or look like others. */
export function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A question as a terminal shows it: the access of the call, and each argument on a line of its own. The count comes last, so that a reader notices lines that scrolled away. */
export function questionLines(request: ApprovalRequest): readonly string[] {
  const { tool, caller, reason, grants, hasBody, passkey, input } = request;
  const leaves = leavesOf(input, "");
  const characters = leaves.reduce((sum, [, value]) => sum + value.length, 0);
  const lines = [
    `${tool} asks: ${reason}`,
    `  caller: ${caller}`,
    `  ${questionSentence(request)}`,
    ...grants.map((grant) => `  grant: ${grant}`),
    ...leaves.map(([at, value]) => `  ${at}: ${value}`),
    ...(hasBody ? ["  Bytes come with the call. The command does not show them."] : []),
    ...(passkey ? [`  ${passkeyNote(passkey.keys)}`] : []),
    `  ${counted(leaves.length, "argument")}, ${counted(characters, "character")} as JSON`,
  ];
  return lines.map(plain);
}

/** Why a terminal cannot allow the call. */
export function passkeyNote(keys: readonly { readonly approver: string }[]): string {
  const owners = [...new Set(keys.map(({ approver }) => approver))].join(" or ");
  return `The policy demands a passkey of ${owners || "nobody"}. A terminal has none: allow the call on a page of the edge, or deny it here.`;
}

/** Each value at the end of a path, as JSON, under its JSON Pointer (RFC 6901). */
function leavesOf(value: JsonValue, at: string): readonly (readonly [at: string, value: string])[] {
  const members = typeof value === "object" && value !== null ? Object.entries(value) : [];
  if (members.length === 0) return at === "" && JSON.stringify(value) === "{}" ? [] : [[at, JSON.stringify(value)]];
  return members.flatMap(([name, member]) => leavesOf(member, `${at}${pointerOf([name])}`));
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
