import type { JsonValue } from "@keyhole/kernel";
import { type AuditCheck, type Checkpoint, lines, verifyAudit, verifyCheckpoint } from "@keyhole/kernel/audit";
import {
  type CommandFiles,
  type CommandOptions,
  type CommandResult,
  counted,
  isObject,
  keysOf,
  marks,
  readOption,
  unreadable,
  Unusable,
  visible,
} from "./io.ts";

interface Step {
  readonly name: "checkpoint" | "signature" | "log" | "end";
  readonly outcome: keyof typeof marks;
  readonly text: string;
}

/** An audit log, read once, with the checkpoints that somebody kept of it. */
export async function verifyLogFile(
  path: string,
  list: readonly JsonValue[] | undefined,
  options: CommandOptions,
  files: CommandFiles,
): Promise<CommandResult> {
  const { checkpoints, steps } = await readCheckpoints(options, files);
  const file = new WatchedFile(path, files);
  const withheld = options["withheld"] === true;
  const check = await verifyAudit(list ?? file.lines(), { checkpoints, withheld });
  if (file.failure !== undefined) throw unreadable(path, file.failure);
  steps.push(check.ok ? whole(check, checkpoints, file.times) : broken(check, list ? undefined : file));
  if (check.ok && checkpoints.length === 0) steps.push(endUnchecked);
  const isBroken = steps.some(({ outcome }) => outcome === "failed");
  const exitCode = isBroken ? 1 : check.events === 0 ? 2 : 0;
  const ok = exitCode === 0;
  const output =
    options["json"] === true
      ? JSON.stringify({ ...check, ok, steps }, undefined, 2)
      : steps
          .map(({ name, outcome, text }) => `${marks[outcome]} ${name.padEnd(10)}  ${visible(text)}`.trimEnd())
          .join("\n");
  return { exitCode, output: `${output}\n` };
}

function whole(
  check: AuditCheck & { readonly ok: true },
  checkpoints: readonly Checkpoint[],
  times: readonly string[],
): Step {
  const { events, firstSeq, lastHash, root, opened, closed, withheld } = check;
  if (firstSeq === null) return empty;
  const range = `${counted(events, "event")}, ${firstSeq}${events === 1 ? "" : ` to ${firstSeq + events - 1}`}`;
  const span = times.length === 2 ? `, from ${times[0]} to ${times[1]}` : "";
  const start = firstSeq === 0 ? "" : " Its beginning is not in the file.";
  const covered = checkpoints.length > 0 ? " It is the log of every checkpoint." : "";
  const tree = root === null ? "" : ` Root ${root}.`;
  const values =
    opened + closed === 0 ? "" : ` ${opened} of ${opened + closed} kept values are shown, and are the ones.`;
  const stubs = withheld === 0 ? "" : ` Of ${counted(withheld, "event")} only the place in the chain is here.`;
  const text = `${range}${span}: none changed, missing or moved.${values}${stubs}${start}${covered} Last digest ${lastHash}.${tree}`;
  return { name: "log", outcome: "passed", text };
}

const empty: Step = {
  name: "log",
  outcome: "skipped",
  text: "There is no event in it, so it proves nothing: not that nothing happened, nor that nothing was taken away.",
};

const endUnchecked: Step = {
  name: "end",
  outcome: "skipped",
  text: "Not checked: without a checkpoint nobody sees whether events behind the last one were cut off.",
};

function broken(check: AuditCheck & { readonly ok: false }, file: WatchedFile | undefined): Step {
  const { events, reason } = check;
  const place = file ? `Line ${events + 1}: ` : `Item ${events + 1}: `;
  // A reader of lines names the line itself; a log that was cut has none.
  const named = /^(?:Line \d|The log was cut)/.test(reason) ? reason : `${place}${reason}`;
  const marked =
    file?.hasMark === true ? " The file begins with a byte order mark, which no log has: something rewrote it." : "";
  const torn =
    file?.isTorn === true
      ? " The file does not end with a line end: a crash can have torn the last write. A kernel that opens the log moves it to a file beside the log, on record."
      : "";
  const before = events === 0 ? "" : ` ${counted(events, "event")} before it ${events === 1 ? "is" : "are"} whole.`;
  return { name: "log", outcome: "failed", text: `${named}${marked}${before}${torn}` };
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

async function readCheckpoints(
  options: CommandOptions,
  files: CommandFiles,
): Promise<{ readonly checkpoints: readonly Checkpoint[]; readonly steps: Step[] }> {
  const document = await readOption("checkpoint", options, files);
  if (document === undefined) return { checkpoints: [], steps: [] };
  const keyFile = await readOption("keys", options, files);
  const keys = await Promise.all(
    (keyFile === undefined ? [] : keysOf(keyFile)).map((key) =>
      crypto.subtle.importKey("jwk", { ...key }, "Ed25519", false, ["verify"]).catch(() => {
        throw new Unusable("A key of --keys is no Ed25519 key.");
      }),
    ),
  );
  const checkpoints: Checkpoint[] = [];
  const steps: Step[] = [];
  for (const candidate of Array.isArray(document) ? (document as readonly JsonValue[]) : [document]) {
    const fault = keys.length === 0 ? unsignedFault(candidate) : await signatureFault(candidate, keys);
    if (fault !== undefined) {
      steps.push({ name: "checkpoint", outcome: "failed", text: fault });
      continue;
    }
    const checkpoint = candidate as unknown as Checkpoint;
    const { origin, size, time, signature } = checkpoint;
    checkpoints.push(checkpoint);
    steps.push({
      name: "checkpoint",
      outcome: "passed",
      text: `${JSON.stringify(origin)} of ${time}, over the first ${counted(size, "event")}`,
    });
    steps.push(
      keys.length === 0
        ? { name: "signature", outcome: "skipped", text: "No keys were given: whose checkpoint it is, is not known." }
        : { name: "signature", outcome: "passed", text: `of key ${JSON.stringify(signature.kid)}` },
    );
  }
  return { checkpoints, steps };
}

async function signatureFault(candidate: JsonValue, keys: readonly CryptoKey[]): Promise<string | undefined> {
  let reason: string | undefined;
  for (const key of keys) {
    const check = await verifyCheckpoint(candidate, key);
    if (check.ok) return undefined;
    reason = check.reason;
  }
  return reason;
}

function unsignedFault(candidate: JsonValue): string | undefined {
  const { size, root, time, origin, signature } = isObject(candidate) ? candidate : {};
  const isUsable =
    Number.isSafeInteger(size) &&
    [root, time, origin].every((text) => typeof text === "string") &&
    isObject(signature) &&
    typeof signature["kid"] === "string";
  return isUsable ? undefined : "It is no checkpoint.";
}
