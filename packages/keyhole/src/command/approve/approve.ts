import { type CommandIo, type CommandOptions, type CommandResult, counted, Unusable, visible } from "../io.ts";
import type { EdgeClient } from "@keyhole/worker-host/edge";
import { optionOf } from "../options.ts";
import { answerOne, type Given, jsonText } from "./answer-one.ts";
import { askEach } from "./ask-each.ts";
import { plain, questionLines } from "@keyhole/worker-host/node/terminal";

/** Lists the calls that wait at an edge, and answers them. */
export async function approve(id: string | undefined, options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const given = givenAnswer(id, options);
  const { connectEdge, EdgeFault } = await import("@keyhole/worker-host/edge");
  try {
    const edge = connectEdge(optionOf(options, "edge") ?? "", tokenIn(optionOf(options, "token") ?? ""), {
      // An edge that says nothing must not outlast Ctrl-C.
      fetch: (url, init) => fetch(url, { ...init, signal: io.signal }),
    });
    if (id !== undefined && given !== undefined) return await answerOne(edge, id, given, options);
    return await listOrAsk(edge, id, options, io);
  } catch (error) {
    if (!(error instanceof EdgeFault)) throw error;
    throw new Unusable(visible(`${error.message} ${error.hint}`.trimEnd()), { cause: error });
  }
}

/** @throws {Unusable} for options that contradict each other */
function givenAnswer(id: string | undefined, options: CommandOptions): Given | undefined {
  const { yes, no, watch, json } = options;
  const reason = optionOf(options, "reason");
  if (yes === true && no === true) throw new Unusable("--yes and --no exclude each other. Give one of them.");
  if (reason !== undefined && no !== true) throw new Unusable("--reason belongs to --no.");
  if (reason !== undefined && reason.length > 500)
    throw new Unusable(`--reason takes at most 500 characters; got ${reason.length}.`);
  if ((yes === true || no === true) && id === undefined)
    throw new Unusable(`Name the approval that ${yes === true ? "--yes" : "--no"} answers: its id.`);
  if (watch === true && (json === true || id !== undefined))
    throw new Unusable("--watch asks about each call that comes. It takes no id and no --json.");
  if (yes === true) return { answer: "allow" };
  return no === true ? { answer: "deny", ...(reason !== undefined && { reason }) } : undefined;
}

/** @throws {Unusable} where the variable is not set */
function tokenIn(variable: string): string {
  const token = process.env[variable];
  if (token !== undefined && token !== "") return token;
  throw new Unusable(
    visible(`The environment variable ${variable} is not set. Put a token with the scope approvals:write into it.`),
  );
}

async function listOrAsk(
  edge: EdgeClient,
  id: string | undefined,
  { json, watch }: CommandOptions,
  io: CommandIo,
): Promise<CommandResult> {
  if (watch === true && io.ask === undefined) throw new Unusable("--watch needs a terminal to ask on.");
  const waiting = (await edge.questions.list()).filter(({ approvalId }) => id === undefined || approvalId === id);
  if (id !== undefined && waiting.length === 0)
    return { exitCode: 1, output: "", errorOutput: `No call waits under ${plain(id)}.\n` };
  if (json === true) return { exitCode: 0, output: jsonText({ approvals: waiting }) };
  if (io.ask !== undefined) return askEach(edge, id, watch === true, { ...io, ask: io.ask });
  if (waiting.length === 0) return { exitCode: 0, output: "No call waits.\n" };
  const lines = waiting.flatMap((request) => [plain(request.approvalId), ...questionLines(request), ""]);
  return { exitCode: 0, output: `${lines.join("\n")}\n${counted(waiting.length, "call")} waiting\n` };
}
