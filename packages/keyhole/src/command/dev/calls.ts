import type { Kernel } from "@keyhole/kernel";
import { type CommandIo, Unusable, visible } from "../io.ts";
import { readInput } from "../json-input.ts";
import { callNoted, outputOf } from "../run/run.ts";

/** Takes calls from the person at the terminal, one after the other, until the input ends or Ctrl-C. */
export async function takeCalls(kernel: Kernel, caller: string, io: CommandIo): Promise<void> {
  io.note('Type a tool and its arguments: echo {"message":"hello"}. An empty line lists the tools. Ctrl-D ends.\n');
  while (!io.signal.aborted) {
    const line = await io.ask?.("> ", io.signal).catch((error: unknown) => {
      if (io.signal.aborted) return undefined;
      throw error;
    });
    if (line === undefined) return;
    const [, name = "", typed = ""] = /^\s*(\S*)\s*(.*)$/s.exec(line) ?? [];
    if (name === "") listTools(kernel, io);
    else await call(kernel, name, typed.trim(), caller, io);
  }
}

function listTools(kernel: Kernel, io: CommandIo): void {
  for (const { id, manifest } of kernel.list()) io.note(visible(`  ${id}  ${manifest.description}`) + "\n");
}

async function call(kernel: Kernel, name: string, typed: string, caller: string, io: CommandIo): Promise<void> {
  try {
    if (typed === "-") throw new Unusable("Standard input holds your calls. Name a file with the arguments: @FILE.");
    const input = await readInput(typed === "" ? undefined : typed, io, "The text after the tool's name");
    const { result } = await callNoted(kernel, name, input, { caller }, io);
    if (result.ok) await io.print(outputOf(result.data));
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    io.note(`${error.message}\n`);
  }
}
