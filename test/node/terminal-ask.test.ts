import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { askAt } from "../../packages/keyhole/src/command/terminal-ask.ts";

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
