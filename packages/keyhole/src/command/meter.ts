import { meter, prepare } from "@keyhole/worker-host/wasm";
import {
  type CommandFiles,
  type CommandOptions,
  type CommandResult,
  marks,
  readBytes,
  Unusable,
  visible,
} from "./io.ts";

/** Reports the metered form of a module, and whether a tool or a command could be made of it. */
export async function meterModule(
  file: string,
  { json, out }: CommandOptions,
  files: CommandFiles,
): Promise<CommandResult> {
  const bytes = await readBytes(file, files);
  const metered = meter(bytes);
  if (!metered.ok) {
    const { code, message, hint } = metered;
    if (json === true) return { exitCode: 1, output: `${JSON.stringify({ ok: false, code, message, hint })}\n` };
    return { exitCode: 1, output: `${marks.failed} ${visible(`${file}: ${code}: ${message} ${hint}`.trimEnd())}\n` };
  }
  const { report } = metered;
  const prepared = prepare(bytes);
  const use = prepared.ok ? (prepared.isCommand ? "tool or command" : "tool") : "none";
  const reason = prepared.ok ? undefined : `${prepared.error.message} ${prepared.error.hint}`.trimEnd();
  if (typeof out === "string") await writeTo(out, metered.bytes, files);
  const exitCode = prepared.ok ? 0 : 1;
  if (json === true) return { exitCode, output: `${JSON.stringify({ ok: true, ...report, use, reason })}\n` };
  const growth = (report.meteredBytes / report.originalBytes).toFixed(2);
  const lines = [
    `${marks.passed} ${file}: ${report.functions} functions, ${report.originalBytes} bytes, metered ${report.meteredBytes} (${growth} ×)`,
    `  ${report.originalHash}`,
    prepared.ok
      ? `${marks.passed} it can be a ${use.replace(" or ", ", or a ")}`
      : `${marks.failed} it cannot be a tool: ${reason}`,
  ];
  return { exitCode, output: lines.map((line) => `${visible(line)}\n`).join("") };
}

async function writeTo(path: string, bytes: Uint8Array, files: CommandFiles): Promise<void> {
  try {
    await files.write(path, bytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : "it failed";
    throw new Unusable(visible(`${path} cannot be written: ${why}`), { cause: error });
  }
}
