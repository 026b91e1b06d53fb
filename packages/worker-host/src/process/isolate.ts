import type { CallPort, CapabilityReply, Isolate, IsolateCall, IsolateOutcome, IsolateUsage } from "@keyhole/kernel";
import { boundedMessage, well } from "@keyhole/kernel/guest";
import { stoppable } from "../stoppable.ts";

/** Characters of what a program said last, in the message of its failure. */
const tailLength = 1_000;

/**
 * Presents a command to the kernel as an isolate, which it is not. Each call is one request for
 * `process.spawn`: it passes the gate, the broker for commands serves it, and it ends with its
 * call. No state stays between two calls.
 *
 * @param faultOf why the program cannot be run, for a health check
 */
export function openProcess(
  { command, args }: { readonly command: string; readonly args: readonly string[] },
  faultOf: () => Promise<string | undefined>,
): Isolate {
  const run = async (call: IsolateCall, port: CallPort): Promise<IsolateOutcome> => {
    if (call.asks === "health") {
      const fault = await faultOf();
      return fault === undefined ? well : { kind: "refused", message: fault };
    }
    const body = new TextEncoder().encode(call.inputText);
    const { fuel, memoryBytes } = call;
    const bounds = { ...(fuel !== undefined && { fuel }), ...(memoryBytes !== undefined && { memoryBytes }) };
    const asked = { command, args: [...args], ...bounds };
    const reply = await port.request({ kind: "process.spawn", operation: "run", arguments: asked, body });
    if (!reply.ok) return { kind: "threw", name: "CapabilityRefused", ...reply.error };
    return outcomeOf(reply, call, port);
  };

  return stoppable(run, "the process is over");
}

/** The answer of the broker for commands. A program of the system reports no usage. */
type CommandEnd = IsolateUsage & { readonly exitCode: number; readonly stderr: string };

function outcomeOf(
  { value, body = new Uint8Array() }: Extract<CapabilityReply, { ok: true }>,
  { outputKind, outputBytes }: IsolateCall,
  port: CallPort,
): IsolateOutcome {
  const { exitCode, stderr, fuelUsed, peakMemoryBytes } = value as unknown as CommandEnd;
  if (fuelUsed !== undefined && peakMemoryBytes !== undefined) port.used?.({ fuelUsed, peakMemoryBytes });
  for (const line of stderr.split("\n")) if (line !== "") port.log({ level: "warn", message: boundedMessage(line) });
  if (exitCode !== 0) {
    const message = `It ended with exit code ${exitCode}. ${stderr.trimEnd().slice(-tailLength)}`.trim();
    return { kind: "threw", name: "ExitCode", message: message.toWellFormed() };
  }
  if (body.byteLength > outputBytes) return { kind: "too-large", what: "output", limit: outputBytes };
  if (outputKind === "binary") return { kind: "returned", output: { form: "binary", bytes: body } };
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
    return { kind: "returned", output: { form: outputKind, text } };
  } catch {
    return { kind: "unnormalizable", reason: "not-utf8", path: "" };
  }
}
