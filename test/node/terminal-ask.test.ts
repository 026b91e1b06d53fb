import { readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { askAt } from "../../packages/keyhole/src/command/terminal-ask.ts";
import { outlet } from "../../packages/keyhole/src/command/terminal-text.ts";
import { root } from "../support/sources.ts";

/** A terminal on which a person presses keys. */
function terminal() {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  return { input, output, interrupted: new AbortController() };
}

const idle = new AbortController().signal;

describe("a question at a terminal", () => {
  it("is answered by a line", async () => {
    const person = terminal();
    const answer = askAt(person, "> ", idle);
    person.input.write("yes\r");
    expect(await answer).toBe("yes");
  });

  it.each([
    ["Ctrl-D", (input: PassThrough) => input.write("\u0004")],
    ["the end of the input", (input: PassThrough) => input.end()],
  ])("has no answer after %s", async (_, end) => {
    const person = terminal();
    const answer = askAt(person, "> ", idle);
    end(person.input);
    expect(await answer).toBeUndefined();
    expect(person.interrupted.signal.aborted).toBe(false);
  });

  it("interrupts the command at Ctrl-C", async () => {
    const person = terminal();
    const answer = askAt(person, "> ", idle);
    person.input.write("\u0003");
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
    expect(person.interrupted.signal.aborted).toBe(true);
  });

  it("is withdrawn with its signal", async () => {
    const asked = new AbortController();
    const answer = askAt(terminal(), "> ", asked.signal);
    asked.abort();
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("what the command says", () => {
  const hiding = "Sunny.\u001b[8m\u009b\u202e\n";

  it("steers no terminal, and is itself on a pipe", () => {
    const person = terminal();
    outlet(person.output)(hiding);
    expect(person.output.read()?.toString()).toBe("Sunny.\\u001b[8m\\u009b\\u202e\n");
    const pipe = new PassThrough();
    outlet(pipe)(hiding);
    expect(pipe.read()?.toString()).toBe(hiding);
  });

  it("goes through the outlet, and a question is as harmless", () => {
    const cli = readFileSync(`${root}packages/keyhole/src/cli.ts`, "utf8");
    const [, afterNodeCheck = ""] = cli.split("process.exit(2)");
    expect(afterNodeCheck).not.toMatch(/\.write\(/);
    const person = terminal();
    const asked = new AbortController();
    void askAt(person, hiding, asked.signal).catch(() => undefined);
    expect(person.output.read()?.toString()).toContain("Sunny.\\u001b[8m\\u009b\\u202e");
    asked.abort();
  });
});
