import type { AuditEvent, CallOptions, CallResult, JsonValue, Kernel } from "@keyhole/kernel";
import { explain } from "@keyhole/kernel/policy";
import { chooseConfig, type ConfiguredTool, findConfigured } from "../config.ts";
import { type CommandIo, type CommandOptions, type CommandResult, marks, visible } from "../io.ts";
import { readInput } from "../json-input.ts";
import { optionOf } from "../options.ts";
import { findTool } from "../tools/find-tool.ts";
import { openKernel } from "./open-kernel.ts";

/** Calls one tool under a policy: asks at the terminal, and shows what the call touched and what decided it. */
export async function run(tool: string, options: CommandOptions, io: CommandIo): Promise<CommandResult> {
  const input = await readInput(options["input"], io);
  const config = await chooseConfig(options, io);
  const { name, version, packages } = config.found
    ? await findConfigured(tool, config.found, io)
    : await found(tool, options, io);
  const { kernel, close } = await openKernel(packages, options, io, config);
  const caller = optionOf(options, "caller") ?? "terminal";
  const isJson = options["json"] === true;
  try {
    const { result, events } = await callNoted(
      kernel,
      name,
      input,
      { ...(version !== undefined && { version }), caller },
      io,
      isJson,
    );
    if (io.signal.aborted) return { exitCode: 130, output: "", errorOutput: "Interrupted.\n" };
    const exitCode = result.ok ? 0 : 1;
    if (isJson) return { exitCode, output: `${JSON.stringify(reportOf(result, events), undefined, 2)}\n` };
    return { exitCode, output: result.ok ? outputOf(result.data) : "" };
  } finally {
    await close();
  }
}

async function found(tool: string, options: CommandOptions, io: CommandIo): Promise<ConfiguredTool> {
  const { package: own, packages } = await findTool(tool, optionOf(options, "tools"), io);
  return { name: own.manifest.name, version: own.manifest.version, packages };
}

/** Calls a tool, and notes what it does, what decided it and how it ended. With `isJson` only what the tool says. */
export async function callNoted(
  kernel: Kernel,
  name: string,
  input: JsonValue,
  call: CallOptions,
  io: CommandIo,
  isJson = false,
): Promise<{ readonly result: CallResult; readonly events: readonly AuditEvent[] }> {
  const events: AuditEvent[] = [];
  const result = await kernel.call(name, input, {
    ...call,
    signal: io.signal,
    onEvent(event) {
      events.push(event);
      if (isJson || event.type !== "capability.used") return;
      const { kind, operation, target, outcome } = event.payload;
      io.note(`${visible(`  used ${kind}: ${operation} ${target}: ${outcome}`)}\n`);
    },
    onLog: ({ message, level }) => io.note(visible(`  ${level}: ${message}`) + "\n"),
    onProgress: (progress) => io.note(visible(`  ${JSON.stringify(progress)}`) + "\n"),
  });
  if (!isJson && !io.signal.aborted)
    io.note(
      notesOf(result, io)
        .map((line) => `${visible(line)}\n`)
        .join(""),
    );
  return { result, events };
}

/** Data as a terminal shows it. */
export function outputOf(data: unknown): string {
  if (typeof data === "string") return data.endsWith("\n") ? data : `${data}\n`;
  if (data instanceof Uint8Array) return `${Buffer.from(data).toString("base64")}\n`;
  return `${JSON.stringify(data, undefined, 2)}\n`;
}

function notesOf(result: CallResult, io: CommandIo): readonly string[] {
  const proof = result.proof === undefined ? [] : [explain(result.proof)];
  const decided = proof.flatMap(({ summary, toChange }) => [
    `  ${summary}`,
    ...(result.ok ? [] : toChange.map((change) => `  For another answer: ${change}`)),
  ]);
  if (result.ok)
    return [
      `${marks.passed} ${result.tool} in ${Math.round(result.meta.durationMs)} ms`,
      ...decided,
      `  ${result.hash}`,
    ];
  const { code, message, hint, operatorHint } = result.error;
  const nobody = code === "APPROVAL_DENIED" && io.ask === undefined ? ["  There is no terminal here to ask on."] : [];
  return [
    `${marks.failed} ${code}: ${message}`,
    ...(hint === "" ? [] : [`  For the model: ${hint}`]),
    ...(operatorHint === "" ? [] : [`  For you: ${operatorHint}`]),
    ...nobody,
    ...decided,
  ];
}

/** Bytes as base64, so that the report is JSON. */
function reportOf(result: CallResult, events: readonly AuditEvent[]): object {
  if (!result.ok || !(result.data instanceof Uint8Array)) return { ...result, events };
  return { ...result, data: null, base64: Buffer.from(result.data).toString("base64"), events };
}
