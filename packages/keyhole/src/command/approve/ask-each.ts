import { setTimeout as delay } from "node:timers/promises";
import type { ApprovalRequest } from "@keyhole/kernel";
import type { EdgeClient } from "@keyhole/worker-host/edge";
import { type CommandIo, type CommandResult, marks } from "../io.ts";
import { send } from "./answer-one.ts";
import { plain, questionLines } from "@keyhole/worker-host/node/terminal";

/** An edge reports no new questions by itself. */
const POLL_MS = 300;

type Asking = CommandIo & Required<Pick<CommandIo, "ask">>;
/** `gone`: the question closed on the screen. `left`: the person leaves it to others. `ended`: the input ended. */
type Outcome = "sent" | "missed" | "gone" | "left" | "ended";

/** Asks the person at the terminal about each call that waits, oldest first; with `stay` also about those to come. */
export async function askEach(
  edge: EdgeClient,
  id: string | undefined,
  stay: boolean,
  io: Asking,
): Promise<CommandResult> {
  const shown = new Set<string>();
  let missed = 0;
  let isNoted = false;
  for (;;) {
    io.signal.throwIfAborted();
    const waiting = await edge.questions.list();
    const next = waiting.find(({ approvalId }) => !shown.has(approvalId) && (id === undefined || approvalId === id));
    if (next === undefined && !stay) break;
    if (next === undefined) {
      if (shown.size === 0 && !isNoted) io.note("Waiting for calls. Ctrl-C ends.\n");
      isNoted = true;
      await delay(POLL_MS, undefined, { signal: io.signal });
      continue;
    }
    shown.add(next.approvalId);
    const outcome = await ask(edge, next, io);
    if (outcome === "missed") missed++;
    if (outcome === "ended") break;
    // A "yes" that was on its way to a closed question must not answer the next one.
    if (outcome === "gone" && (await io.ask("Press Enter to continue. ", io.signal)) === undefined) break;
  }
  if (shown.size === 0) return { exitCode: 0, output: "No call waits.\n" };
  return { exitCode: missed > 0 ? 1 : 0, output: "" };
}

async function ask(edge: EdgeClient, request: ApprovalRequest, io: Asking): Promise<Outcome> {
  const { approvalId, tool, passkey, expiresAt } = request;
  const question = `${questionLines(request).join("\n")}\n`;
  const ways = passkey ? 'Type "no" to deny it' : 'Type "yes" to allow this call once, "no" to deny it';
  const said = await whileOpen(edge, approvalId, io, (signal) =>
    io.ask(`${ways}; Enter leaves it open until ${plain(expiresAt)}: `, signal, question),
  );
  if (said === gone) {
    io.note(`${marks.skipped} The question is no longer open: an approver answered, it expired, or the call ended.\n`);
    return "gone";
  }
  if (said === undefined) return "ended";
  const answer = { yes: "allow", no: "deny" }[said.trim()] as "allow" | "deny" | undefined;
  if (answer === undefined || (answer === "allow" && passkey)) {
    io.note(`${marks.skipped} The call still waits.\n`);
    return "left";
  }
  const arrived = await send(edge, approvalId, { answer });
  const result = answer === "allow" ? "is allowed once" : "is denied";
  await io.print(
    arrived ? `${marks.passed} ${plain(tool)} ${result}\n` : `${marks.failed} ${plain(tool)} waits no more\n`,
  );
  return arrived ? "sent" : "missed";
}

const gone = Symbol("gone");

/** Withdraws a question of the terminal when the question at the edge closes. */
async function whileOpen<Answer>(
  edge: EdgeClient,
  id: string,
  io: CommandIo,
  use: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer | typeof gone> {
  const [answered, closed] = [new AbortController(), new AbortController()];
  const watching = untilClosed(edge, id, AbortSignal.any([answered.signal, io.signal])).then(
    () => closed.abort(gone),
    (error: unknown) => closed.abort(error),
  );
  try {
    return await use(AbortSignal.any([io.signal, closed.signal]));
  } catch (error) {
    io.signal.throwIfAborted();
    if (!closed.signal.aborted) throw error;
    if (closed.signal.reason === gone) return gone;
    throw closed.signal.reason;
  } finally {
    answered.abort();
    await watching;
  }
}

async function untilClosed(edge: EdgeClient, id: string, stopped: AbortSignal): Promise<void> {
  while (!stopped.aborted) {
    if (!(await edge.questions.list()).some(({ approvalId }) => approvalId === id)) return;
    await delay(POLL_MS, undefined, { signal: stopped }).catch(() => {});
  }
}
