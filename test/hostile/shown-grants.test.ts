import { builtInFamilies, type Capability } from "@keyhole/kernel";
import { expect, it } from "vitest";

// The author of a tool chooses the patterns of its manifest. A person reads their description before they allow a call.

const shown = (capability: Capability): string =>
  builtInFamilies.known([capability])[0]?.describe() ?? expect.unreachable(capability.kind);

const commands = (args: readonly object[]): Capability =>
  ({ kind: "process.spawn", commands: [{ command: "git", args }] }) as unknown as Capability;

it.each<[string, (text: string) => Capability]>([
  ["one of the texts of an argument", (text) => commands([{ oneOf: [text, "c"] }])],
  ["the beginning of an argument", (text) => commands([{ prefix: text }])],
  ["the path of an argument", (text) => commands([{ path: [text.replaceAll(/["\n\t|<>]/g, " ")] }])],
  ["an argument", (text) => commands([text as unknown as object])],
  ["a folder", (text) => ({ kind: "fs.read", paths: [text.replaceAll(/["\n\t|<>]/g, " ")] })],
  ["a key", (text) => ({ kind: "kv.read", keys: [text.replaceAll(/[\n\t]/g, " ")] })],
])("%s reads as one pattern of one line", (_, of) => {
  for (const text of ["a, within b", "a, b", "a|b", "a\nb", "a\tb", "a> <b", "a… b", 'a" "b', "a or b"]) {
    const description = shown(of(text));
    expect(description).not.toMatch(/[\n\t]/);
    // What separates patterns stands outside of quotes.
    const unquoted = description.replaceAll(/"(?:[^"\\]|\\.)*"/g, "x");
    expect(unquoted, description).not.toMatch(/[",]|a.*b|within| or /);
  }
});
