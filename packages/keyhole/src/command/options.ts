import { type CommandOptions, Unusable } from "./io.ts";

/**
 * Refuses an option without a value: `--checkpoint=` would leave something unchecked that the person means to have checked.
 *
 * @throws {Unusable}
 */
export function refuseEmpty(given: CommandOptions): void {
  const empty = Object.entries(given).find(([, value]) => [value].flat().includes(""));
  if (empty) throw new Unusable(`--${empty[0]} names ${empty[0] === "pin" ? "no key" : "no file"}.`);
}

/**
 * Refuses options that say nothing about the file that a command works on: with them a person expects more than is done.
 *
 * @throws {Unusable}
 */
export function takeOnly(given: CommandOptions, taken: readonly string[], kind: string): void {
  const other = Object.keys(given).find((name) => !taken.includes(name));
  if (other !== undefined) throw new Unusable(`--${other} is not for ${kind}. \`keyhole verify --help\` has them all.`);
}

export function optionOf(given: CommandOptions, name: string): string | undefined {
  const value = given[name];
  return typeof value === "string" ? value : undefined;
}
