import type { CommandCall } from "../../protocol/message.ts";
import type { IsolateOutcome } from "@keyhole/kernel";
import type { RunBounds, RunEnding } from "../machine/machine.ts";
import type { Collected, Kept } from "../wasi/streams.ts";
import { boundOutcome } from "./outcome.ts";

/** How a command ended by itself. */
export interface CommandEnd {
  readonly exitCode: number;
  readonly stderr: Uint8Array;
  readonly stdout: Uint8Array;
}

/** The exit code of shells for an aborted program: 128 and the number of SIGABRT. */
const ABORTED = 134;

interface EndedCommand {
  readonly ending: Exclude<RunEnding, { kind: "unanswered" }>;
  readonly stdout: Collected;
  readonly errors: Kept;
}

export function commandOutcome(
  { ending, stdout, errors }: EndedCommand,
  call: CommandCall,
  bounds: RunBounds,
): IsolateOutcome {
  const ended = (exitCode: number): IsolateOutcome => {
    const bytes = packEnd({ exitCode, stderr: errors.bytes(), stdout: stdout.bytes() });
    return { kind: "returned", output: { form: "binary", bytes } };
  };
  switch (ending.kind) {
    case "returned":
      return ended(0);
    case "exited":
      return ended(ending.code);
    case "trapped":
    case "failed":
      // Engines describe a trap differently; the texts here are equal everywhere.
      errors.add(new TextEncoder().encode(ending.kind === "failed" ? `${ending.message}\n` : "It trapped.\n"));
      return ended(ABORTED);
    default:
      return boundOutcome(ending, call.command.stdoutBytes, bounds);
  }
}

const HEADER_BYTES = 8;

/** One block of bytes: exit code and length of stderr as 32-bit numbers, stderr, stdout. */
function packEnd({ exitCode, stderr, stdout }: CommandEnd): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_BYTES + stderr.length + stdout.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, exitCode);
  view.setUint32(4, stderr.length);
  bytes.set(stderr, HEADER_BYTES);
  bytes.set(stdout, HEADER_BYTES + stderr.length);
  return bytes;
}

/** The most bytes that a command's end has. */
export function mostEndBytes({
  stdoutBytes,
  stderrBytes,
}: Pick<CommandCall["command"], "stdoutBytes" | "stderrBytes">): number {
  return HEADER_BYTES + stderrBytes + stdoutBytes;
}

/** `undefined` for what is no such block. */
export function unpackEnd(bytes: Uint8Array): CommandEnd | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const stdoutAt = HEADER_BYTES + view.getUint32(4);
  if (stdoutAt > bytes.length) return undefined;
  return { exitCode: view.getUint32(0), stderr: bytes.slice(HEADER_BYTES, stdoutAt), stdout: bytes.slice(stdoutAt) };
}
