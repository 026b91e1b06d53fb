import { readdirSync, readFileSync } from "node:fs";
import { PassThrough } from "node:stream";
import type { ApprovalRequest } from "@keyhole/kernel";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { lineAsker, terminalApprover } from "@keyhole/worker-host/node/terminal";
import { outlet } from "../../packages/keyhole/src/command/terminal-text.ts";
import { root } from "../support/sources.ts";

/** A terminal on which a person presses keys. */
function terminal() {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const output = Object.assign(new PassThrough(), { isTTY: true });
  const shown = (): string => output.read()?.toString() ?? "";
  return { input, output, shown, ask: lineAsker({ input, output }) };
}

const idle = new AbortController().signal;

describe("a question at a terminal", () => {
  it("is answered by a line", async () => {
    const person = terminal();
    const answer = person.ask("> ", idle);
    person.input.write("yes\r");
    expect(await answer).toBe("yes");
  });

  it.each([
    ["Ctrl-D", (input: PassThrough) => input.write("\u0004")],
    ["the end of the input", (input: PassThrough) => input.end()],
  ])("has no answer after %s", async (_, end) => {
    const person = terminal();
    const answer = person.ask("> ", idle);
    end(person.input);
    expect(await answer).toBeUndefined();
  });

  it("tells the program of Ctrl-C", async () => {
    const person = terminal();
    const interrupted = new AbortController();
    process.once("SIGINT", () => interrupted.abort());
    const answer = person.ask("> ", interrupted.signal);
    person.input.write("\u0003");
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
  });

  it("is withdrawn with its signal", async () => {
    const asked = new AbortController();
    const answer = terminal().ask("> ", asked.signal);
    asked.abort();
    await expect(answer).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("a call that waits at a terminal", () => {
  beforeEach(() => void vi.useFakeTimers({ fakeNodeBuiltins: true }));
  afterEach(() => void vi.useRealTimers());

  const request: ApprovalRequest = {
    approvalId: "a",
    callId: "c",
    sessionId: "s",
    caller: "agent",
    tool: "pay@1.0.0",
    toolHash: "",
    title: "Pay",
    description: "",
    tier: 2,
    risk: null,
    effects: [],
    grants: [],
    input: { amount: 7 },
    argsHash: "",
    hasBody: false,
    grantHash: "",
    policyHash: "",
    mode: "NORMAL",
    asks: [],
    reason: "Payments are asked about.",
    expiresAt: "",
  };
  /** The time in which a person can have read the question. */
  const reading = () => vi.advanceTimersByTimeAsync(700);

  it.each([
    ["yes\r", "allow"],
    [" yes \r", "allow"],
    ["y\r", "deny"],
    ["\r", "deny"],
    ["\u0004", "deny"],
  ])("has for %j the answer %s", async (typed, answer) => {
    const person = terminal();
    const answered = terminalApprover({ ask: person.ask })(request, idle);
    await reading();
    expect(person.shown()).toContain("/amount: 7");
    person.input.write(typed);
    expect(await answered).toMatchObject({ answer, approver: "terminal" });
  });

  it.each([
    ["a line", "yes\r"],
    ["the begin of a line", "yes"],
    ["many lines", "yes\ryes\ryes"],
  ])("is not answered by %s that was typed before", async (_, typed) => {
    const person = terminal();
    person.input.write(typed);
    const answered = terminalApprover({ ask: person.ask })(request, idle);
    await vi.advanceTimersByTimeAsync(699);
    person.input.write(typed);
    await reading();
    person.input.write("\r");
    expect(await answered).toMatchObject({ answer: "deny" });
  });

  it("is denied where the input has ended", async () => {
    const person = terminal();
    person.input.end("yes\r");
    const answered = terminalApprover({ ask: person.ask })(request, idle);
    await reading();
    expect(await answered).toMatchObject({ answer: "deny" });
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
    void person.ask(hiding, asked.signal).catch(() => undefined);
    expect(person.output.read()?.toString()).toContain("Sunny.\\u001b[8m\\u009b\\u202e");
    asked.abort();
  });
});

it("no template and no page has a queue of questions, or a terminal of its own", () => {
  const texts = [...filesOf("packages/keyhole/templates"), ...filesOf("docs")].filter((path) =>
    /\.(md|[cm]?[jt]sx?)$/.test(path),
  );
  expect(texts.length).toBeGreaterThan(50);
  expect(texts.filter((path) => /createInterface|node:readline/.test(readFileSync(`${root}${path}`, "utf8")))).toEqual(
    [],
  );
});

const filesOf = (folder: string): readonly string[] =>
  readdirSync(`${root}${folder}`, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [`${entry.parentPath}/${entry.name}`.slice(root.length)] : [],
  );
