import type { JsonValue } from "@keyhole/kernel";
import {
  type AuditCheck,
  type AuditFacts,
  lines,
  type TrustedKeys,
  verdictLine,
  verifyAudit,
  verifyCheckpoint,
} from "@keyhole/kernel/audit";
import {
  type CommandFiles,
  type CommandOptions,
  type CommandResult,
  counted,
  exitCodes,
  marks,
  unreadable,
  visible,
} from "../io.ts";
import { readOption } from "../json-file.ts";
import { readPolicy } from "../policy/read-policy.ts";
import { optionOf } from "../options.ts";
import { PasskeyWatch } from "./passkeys.ts";
import { readTrust } from "./trust.ts";

export interface Step {
  readonly name: "checkpoint" | "signature" | "log" | "passkeys";
  readonly outcome: keyof typeof marks;
  readonly text: string;
}

/** An audit log, read once, with the checkpoints that were kept of it. */
export async function verifyLogFile(
  path: string,
  list: readonly JsonValue[] | undefined,
  options: CommandOptions,
  files: CommandFiles,
): Promise<CommandResult> {
  const checkpoints = await readCheckpoints(options, files);
  const trusted = await readTrust(options, files);
  const steps = (await Promise.all(checkpoints.map((each) => checkpointSteps(each, trusted)))).flat();
  const file = new WatchedFile(path, files);
  const withheld = options["withheld"] === true;
  // A broken checkpoint decides; the command reads the log all the same, for other faults.
  const fault = steps.find(({ outcome }) => outcome === "failed");
  const usable = fault ? {} : { checkpoints, trusted };
  const policy = optionOf(options, "policy");
  const passkeys = new PasskeyWatch(policy === undefined ? undefined : await readPolicy(policy, files));
  // A list, such as a page of the HTTP API, can be a part of a log; a file of lines is a log.
  const check = await verifyAudit(passkeys.over(list ?? file.lines()), {
    ...usable,
    part: list !== undefined,
    withheld,
  });
  if (file.failure !== undefined) throw unreadable(path, file.failure);
  steps.push(logStep(check, list ? undefined : file, checkpoints.length > 0 && !fault));
  // Of a broken log not all was read.
  if (check.verdict !== "broken") steps.push(...passkeys.steps());
  const failed = steps.find(({ outcome }) => outcome === "failed");
  const report =
    failed && check.verdict !== "broken"
      ? { verdict: "broken" as const, events: check.events, reason: failed.text }
      : check;
  const output =
    options["json"] === true
      ? JSON.stringify({ ...report, steps }, undefined, 2)
      : [...steps.map(lineOf), verdictLine(report)].map(visible).join("\n");
  return { exitCode: exitCodes[report.verdict], output: `${output}\n` };
}

export function lineOf({ name, outcome, text }: Step): string {
  return `${marks[outcome]} ${name.padEnd(10)}  ${text}`.trimEnd();
}

async function readCheckpoints(options: CommandOptions, files: CommandFiles): Promise<readonly JsonValue[]> {
  const document = await readOption("checkpoint", options, files);
  if (document === undefined) return [];
  return Array.isArray(document) ? (document as readonly JsonValue[]) : [document];
}

async function checkpointSteps(document: JsonValue, trusted: TrustedKeys | undefined): Promise<readonly Step[]> {
  const check = await verifyCheckpoint(document, trusted);
  if (check.verdict === "broken") return [{ name: "checkpoint", outcome: "failed", text: check.reason }];
  const { origin, size, time } = check.checkpoint;
  const text = `${JSON.stringify(origin)} of ${time}, over the first ${counted(size, "event")}`;
  const signature: Step =
    check.verdict === "verified"
      ? { name: "signature", outcome: "passed", text: `of key ${check.vouchedBy.kid}` }
      : { name: "signature", outcome: "skipped", text: check.vouchedBy.reason };
  return [{ name: "checkpoint", outcome: "passed", text }, signature];
}

export function logStep(check: AuditCheck, file: WatchedFile | undefined, isCovered: boolean): Step {
  if (check.verdict === "broken") return broken(check, file);
  if (check.verdict === "inconclusive") return stopped(check, file);
  return whole(check, isCovered, file?.times ?? []);
}

/** A log without an event, or one whose reader stopped at its bound. */
function stopped(
  { events, reason }: AuditCheck & { readonly verdict: "inconclusive" },
  file: WatchedFile | undefined,
): Step {
  const isEmpty = events === 0 && reason.startsWith("An empty log");
  if (isEmpty) return { name: "log", outcome: "skipped", text: "The log has no event." };
  const place = reason.startsWith("Line ") ? "" : `${file ? "Line" : "Item"} ${events + 1}: `;
  return { name: "log", outcome: "skipped", text: `${place}${reason}${wholeBefore(events)}` };
}

function wholeBefore(events: number): string {
  return events === 0 ? "" : ` ${counted(events, "event")} before it ${events === 1 ? "is" : "are"} whole.`;
}

function whole(check: AuditFacts, isCovered: boolean, times: readonly string[]): Step {
  const { events, firstSeq, lastHash, root, opened, closed, withheld } = check;
  const range = `${counted(events, "event")}, ${firstSeq}${events === 1 ? "" : ` to ${firstSeq + events - 1}`}`;
  const span = times.length === 2 ? `, from ${times[0]} to ${times[1]}` : "";
  const start = firstSeq === 0 ? "" : " Its beginning is not in the file.";
  const covered = isCovered ? " It is the log of every checkpoint." : "";
  const tree = root === null ? "" : ` Root ${root}.`;
  const values =
    opened + closed === 0 ? "" : ` ${opened} of ${opened + closed} kept values are shown, and match their commitments.`;
  const stubs = withheld === 0 ? "" : ` Of ${counted(withheld, "event")} only the place in the chain is here.`;
  const text = `${range}${span}: none changed, missing or moved.${values}${stubs}${start}${covered} Last digest ${lastHash}.${tree}`;
  return { name: "log", outcome: "passed", text };
}

function broken(check: AuditCheck & { readonly verdict: "broken" }, file: WatchedFile | undefined): Step {
  const { events, reason } = check;
  const place = file ? `Line ${events + 1}: ` : `Item ${events + 1}: `;
  // A reader of lines names the line itself; a cut log has none.
  const named = /^(?:Line \d|The log was cut)/.test(reason) ? reason : `${place}${reason}`;
  const marked =
    file?.hasMark === true ? " The file begins with a byte order mark, which no log has: something rewrote it." : "";
  const torn =
    file?.isTorn === true
      ? " The file does not end with a line end: a crash can have torn the last write. A kernel that opens the log moves it to a file beside the log, on record."
      : "";
  return { name: "log", outcome: "failed", text: `${named}${marked}${wholeBefore(events)}${torn}` };
}

/** The lines of a file, and what there is to say about them afterwards. */
class WatchedFile {
  failure: unknown;
  readonly #path: string;
  readonly #files: CommandFiles;
  #lastByte = 10;
  #hasEnded = false;
  #first = "";
  #last = "";

  constructor(path: string, files: CommandFiles) {
    this.#path = path;
    this.#files = files;
  }

  /** Whether what was read last is a line without its end: the lines before it are taken before the file is read on. */
  get isTorn(): boolean {
    return this.#hasEnded && this.#lastByte !== 10;
  }

  get hasMark(): boolean {
    return this.#first.startsWith("\ufeff");
  }

  /** Of the first and the last event, as they are written. */
  get times(): readonly string[] {
    return [this.#first, this.#last].flatMap((line) => /"time":"([^"\\]{1,40})"/.exec(line)?.[1] ?? []);
  }

  async *lines(): AsyncGenerator<string, void, undefined> {
    for await (const line of lines(this.#chunks())) {
      this.#first ||= line;
      this.#last = line;
      yield line;
    }
  }

  async *#chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of this.#files.chunks(this.#path)) {
        this.#lastByte = chunk.at(-1) ?? this.#lastByte;
        yield chunk;
      }
      this.#hasEnded = true;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}
