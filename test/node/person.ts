import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandResult, runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioIn } from "../support/command-files.ts";
import { program } from "../vite/program.ts";

/** What the person types after each question; `undefined` ends the input. */
type Typing = string | undefined | (() => Promise<string>);

/** A person at the terminal, who reads what is printed. */
export class Person {
  readonly folder: string;
  readonly questions: string[] = [];
  printed = "";
  #notes: readonly string[] = [];
  #waiting: (() => void) | undefined;
  constructor(files: Readonly<Record<string, string>>) {
    this.folder = program(files);
  }

  get notes(): string {
    return this.#notes.join("");
  }

  change(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  /** Resolves when the text has been printed. */
  async reads(text: RegExp): Promise<void> {
    while (!text.test(this.printed)) await new Promise<void>((resolve) => (this.#waiting = resolve));
  }

  dev(words: readonly string[], typing: readonly Typing[], signal?: AbortSignal): Promise<CommandResult> {
    const left = [...typing];
    const io = ioIn(this.folder, {
      print: (text) => {
        this.printed += text;
        this.#waiting?.();
      },
      ask: async (question) => {
        this.questions.push(question);
        const next = left.shift();
        return typeof next === "function" ? next() : next;
      },
      ...(signal && { signal }),
    });
    this.#notes = io.notes;
    return runCommand(["dev", ...words], io);
  }
}
