import type { ToolContext } from "@keyhole/kernel/tool";
import { lineOf, textOf } from "./clean.ts";

/** Arguments of a command behind its own ones. */
export const paths = { rest: { path: ["**"] } } as const;

/** Schema of the paths that a model chooses. */
export const chosenPaths = {
  type: "array",
  items: { type: "string", minLength: 1, maxLength: 1_024 },
  maxItems: 100,
  default: [],
} as const;

export const count = { type: "integer", minimum: 0 } as const;

/** The output of a program, as text. */
export interface ProgramOutput {
  readonly exitCode: number;
  readonly stdout: string;
  /** Of stdout, before it was decoded. */
  readonly byteLength: number;
  readonly stderr: string;
}

/** The package of Debian that has a program. */
const debianPackages: ReadonlyMap<string, string> = new Map([
  ["cat", "coreutils"],
  ["df", "coreutils"],
  ["sleep", "coreutils"],
  ["tail", "coreutils"],
  ["ps", "procps"],
  ["ss", "iproute2"],
  ["journalctl", "systemd"],
  ["git", "git"],
]);

/**
 * Runs a program of the host. What it exits with is for the caller to judge.
 *
 * @throws {Error} named `ProgramMissing`, with what to install, where the host does not offer the program; the broker's refusal for all else
 */
export async function outputOf(
  spawn: ToolContext["spawn"],
  command: string,
  args: readonly string[],
): Promise<ProgramOutput> {
  try {
    const { exitCode, stdout, stderr } = await spawn(command, args);
    return { exitCode, stdout: textOf(stdout), byteLength: stdout.byteLength, stderr };
  } catch (error) {
    throw codeOf(error) === "NOT_FOUND" ? missing(command) : error;
  }
}

/** The output of a program that has to end with 0. */
export async function successOf(
  spawn: ToolContext["spawn"],
  command: string,
  args: readonly string[],
): Promise<string> {
  const output = await outputOf(spawn, command, args);
  if (output.exitCode !== 0) throw failed(command, output);
  return output.stdout;
}

/** The code of a refused request. */
export function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}

export function failed(command: string, { exitCode, stderr }: Pick<ProgramOutput, "exitCode" | "stderr">): Error {
  return named("ProgramFailed", `${command} ended with ${exitCode}: ${lineOf(stderr.trim(), 500) || "no message"}.`);
}

/** The error for an output that the tool cannot read. */
export function unreadable(command: string, what: string): Error {
  return named("UnreadableOutput", `The output of ${command} is not as expected: ${what}.`);
}

function missing(command: string): Error {
  const debianPackage = debianPackages.get(command);
  const install = debianPackage === undefined ? `Install ${command}` : `Install the Debian package ${debianPackage}`;
  return named("ProgramMissing", `This host offers no program ${command}. ${install}, and name its path to the host.`);
}

export function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}
