import { type ApprovalAnswer, type ApprovalRequest, type ContentStore, createKernel } from "@keyhole/kernel";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { ApprovalDesk } from "@keyhole/worker-host/approval-desk";
import { createGateway } from "../../packages/edge/src/app/gateway.ts";
import { createRoutes } from "../../packages/edge/src/app/routes.ts";
import { type CommandIo, type CommandResult, runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioIn } from "../support/command-files.ts";
import { echo } from "../support/kernel.ts";

/* `keyhole approve` against the gateway, the routes and the desk of an edge. */

let desk: ApprovalDesk;
let real: ApprovalRequest;
let gateway: ReturnType<typeof createGateway>;
/** The network. A spy on a stubbed `fetch` would bring the stub back after this file: files share a process. */
let send: (url: string, init: RequestInit) => Promise<Response>;

const toEdge: typeof send = async (url, init) =>
  url.startsWith("https://edge.example/") ? gateway.request(url, init) : Promise.reject(new TypeError("no network"));

async function digestOf(token: string): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token))).toString("hex");
}

beforeAll(async () => {
  const asked = Promise.withResolvers<ApprovalRequest>();
  const kernel = await createKernel({
    policy: { version: "1", posture: "standard", rules: [{ id: "ask", effect: "ask", when: {}, reason: "Asks." }] },
    approver: async (request) => {
      asked.resolve(request);
      return { answer: "deny", approver: "nobody" };
    },
  });
  kernel.registerTrusted(echo);
  await kernel.call("echo", { message: "hello" });
  real = await asked.promise;
  const settings = JSON.stringify({
    [await digestOf("approves")]: { subject: "ada", scopes: ["approvals:write"] },
    [await digestOf("reads")]: { subject: "bob", scopes: ["tools:read"] },
  });
  const content = {} as ContentStore;
  gateway = createGateway(() => ({ tokens: settings, origins: undefined }), {
    forward: async (request) =>
      createRoutes({ kernel, desk, policy: { version: "1", posture: "standard" }, content }).fetch(request),
  });
  vi.stubGlobal("fetch", (url: string, init: RequestInit) => send(url, init));
  vi.stubEnv("APPROVER", "approves");
  vi.stubEnv("READER", "reads");
});
afterAll(() => {
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
beforeEach(() => {
  send = toEdge;
  desk = new ApprovalDesk();
});

/** A call that waits. */
function waiting(approvalId: string, more: Partial<ApprovalRequest> = {}) {
  const closed = new AbortController();
  const answer = desk.approver({ ...real, approvalId, ...more }, closed.signal);
  answer.catch(() => {});
  return { answer, close: () => closed.abort() };
}

type Typed = string | undefined | (() => string | Promise<string>);

/** @param typing what the person types, question by question; without it there is no terminal */
async function approve(words: readonly string[], typing?: readonly Typed[], more: Partial<CommandIo> = {}) {
  const questions: string[] = [];
  const left = [...(typing ?? [])];
  let printed = "";
  const io = ioIn("/", {
    print: (text) => void (printed += text),
    ...(typing && {
      async ask(question, signal) {
        questions.push(question);
        const next = left.shift();
        if (typeof next !== "function") return next;
        const withdrawn = new Promise<never>((_, reject) =>
          signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")), { once: true }),
        );
        return Promise.race([next(), withdrawn]);
      },
    }),
    ...more,
  });
  const args = ["approve", ...words, "--edge", "https://edge.example", "--token", "APPROVER"];
  const result: CommandResult = await runCommand(args, io);
  return { ...result, output: printed + result.output, notes: io.notes.join(""), questions };
}

const never = (): Promise<string> => new Promise(() => {});

describe("without a terminal", () => {
  it("lists each call with its effects, its grants and every argument", async () => {
    expect(await approve([])).toMatchObject({ exitCode: 0, output: "No call waits.\n" });
    const input = { path: "notes/a.txt", to: [{ "a/b": true }, {}], more: {} };
    waiting("one", {
      tool: "save@1.0.0",
      reason: "It writes.",
      effects: ["fs.write"],
      grants: ["fs.write notes/**"],
      input,
    });
    waiting("two", { hasBody: true });
    const { exitCode, output } = await approve([]);
    expect(exitCode).toBe(0);
    expect(output).toContain(
      [
        "one",
        "save@1.0.0 asks: It writes.",
        "  caller: anonymous",
        "  save can change or delete files (notes/**).",
        "  grant: fs.write notes/**",
        '  /path: "notes/a.txt"',
        "  /to/0/a~1b: true",
        "  /to/1: {}",
        "  /more: {}",
        "  4 arguments, 21 characters as JSON",
      ].join("\n"),
    );
    expect(output).toContain("  Bytes come with the call. The command does not show them.\n");
    const text = waiting("text", { input: "rm -rf" });
    expect((await approve(["text"])).output).toContain('  : "rm -rf"\n  1 argument, 8 characters as JSON\n');
    text.close();
    expect(output).toMatch(/2 calls waiting\n$/);
    const { approvals } = JSON.parse((await approve(["--json"])).output) as { approvals: ApprovalRequest[] };
    expect(approvals.map(({ approvalId }) => approvalId)).toEqual(["one", "two"]);
    expect(approvals[0]?.input).toEqual(input);
  });

  it("answers one call by its id", async () => {
    const [one, two] = [waiting("one"), waiting("two")];
    expect(await approve(["one", "--yes"])).toMatchObject({ exitCode: 0, output: `✓ ${real.tool} is allowed once\n` });
    expect(await one.answer).toEqual({ answer: "allow", scope: "once", approver: "ada" } satisfies ApprovalAnswer);
    const denied = await approve(["two", "--no", "--reason", "Not today.", "--json"]);
    expect(JSON.parse(denied.output)).toEqual({ approvalId: "two", answer: "deny", arrived: true });
    expect(await two.answer).toEqual({ answer: "deny", approver: "ada", reason: "Not today." });
  });

  it("says that a call waits no more, and takes no part of an id", async () => {
    waiting("one");
    const gone = "No call waits under on: an approver answered, the question expired, or the call ended.";
    expect(await approve(["on", "--yes"])).toMatchObject({ exitCode: 1, errorOutput: `✗ ${gone}\n` });
    const { exitCode, output } = await approve(["on", "--yes", "--json"]);
    expect([exitCode, JSON.parse(output)]).toEqual([
      1,
      { approvalId: "on", answer: "allow", arrived: false, refusal: gone },
    ]);
    expect(await approve(["on"])).toMatchObject({ exitCode: 1, errorOutput: "No call waits under on.\n" });
    expect(desk.list()).toHaveLength(1);
  });

  it("refuses to allow what needs a passkey, with the reason, and denies it", async () => {
    const passkey = { rpId: "example.com", keys: [{ approver: "ada", credentialId: "a" }] };
    const { answer } = waiting("one", { passkey });
    expect((await approve([])).output).toContain("  The policy demands a passkey of ada. A terminal has none");
    expect(await approve(["one", "--yes"])).toMatchObject({
      exitCode: 1,
      errorOutput: expect.stringContaining("✗ The policy demands a passkey of ada.") as string,
    });
    const { notes, questions } = await approve([], ["yes"]);
    expect(questions[0]).toMatch(/^Type "no" to deny it;/);
    expect(notes).toContain("The call still waits.");
    expect(desk.list()).toHaveLength(1);
    expect((await approve(["one", "--no"])).exitCode).toBe(0);
    expect(await answer).toEqual({ answer: "deny", approver: "ada" });
  });

  it.each<[string, string[], string]>([
    ["--yes and --no", ["one", "--yes", "--no"], "--yes and --no exclude each other. Give one of them.\n"],
    ["--yes without an id", ["--yes"], "Name the approval that --yes answers: its id.\n"],
    ["a reason without --no", ["one", "--yes", "--reason", "x"], "--reason belongs to --no.\n"],
    ["--watch without a terminal", ["--watch"], "--watch needs a terminal to ask on.\n"],
    ["a token that is not set", ["--token", "NO_TOKEN"], "The environment variable NO_TOKEN is not set. "],
    ["a token that may not", ["--token", "READER"], "The token lacks the scope approvals:write. FORBIDDEN"],
    ["an edge that is away", ["--edge", "https://away.example"], "The edge at https://away.example does not answer."],
    ["plain http", ["--edge", "http://edge.example"], "The address of an edge is https:"],
  ])("refuses %s with exit code 2", async (_, words, said) => {
    waiting("one");
    const io = ioIn("/");
    const around = [
      ["--edge", "https://edge.example"],
      ["--token", "APPROVER"],
    ].filter(([name]) => !words.includes(name!));
    const { exitCode, output, errorOutput } = await runCommand(["approve", ...words, ...around.flat()], io);
    expect([exitCode, output]).toEqual([2, ""]);
    expect(errorOutput).toContain(said);
    expect(desk.list()).toHaveLength(1);
  });
});

describe("at a terminal", () => {
  it("asks about each call, oldest first; only yes and no answer", async () => {
    const calls = ["one", "two", "three"].map((id) => waiting(id));
    const { exitCode, output, questions } = await approve([], ["yes", "YES", "no"]);
    expect([exitCode, questions.length]).toEqual([0, 3]);
    expect(output).toBe(`✓ ${real.tool} is allowed once\n✓ ${real.tool} is denied\n`);
    expect(await calls[0]!.answer).toMatchObject({ answer: "allow", scope: "once" });
    expect(await calls[2]!.answer).toMatchObject({ answer: "deny" });
    expect(desk.list().map(({ approvalId }) => approvalId)).toEqual(["two"]);
    expect(await approve([], [undefined])).toMatchObject({ exitCode: 0, output: "" });
    expect(desk.list()).toHaveLength(1);
  });

  it("withdraws a question that closes, and takes no answer before Enter", async () => {
    const one = waiting("one");
    const two = waiting("two");
    const { notes, questions } = await approve([], [() => (one.close(), never()), "yes", "no"]);
    expect(questions[1]).toBe("Press Enter to continue. ");
    expect(notes).toContain("The question is no longer open");
    expect(await two.answer).toMatchObject({ answer: "deny" });
  });

  it("stays with --watch for calls to come, until Ctrl-C", async () => {
    const interrupted = new AbortController();
    const late: ReturnType<typeof waiting>[] = [];
    const note = (text: string): void => {
      if (text.startsWith("Waiting")) late.push(waiting("late"));
    };
    const leave = (): Promise<string> => (interrupted.abort(), never());
    const { exitCode } = await approve(["--watch"], [() => (waiting("last"), "yes"), leave], {
      signal: interrupted.signal,
      note,
    });
    expect(exitCode).toBe(130);
    expect(await late[0]!.answer).toMatchObject({ answer: "allow" });
    expect(desk.list().map(({ approvalId }) => approvalId)).toEqual(["last"]);
  });
});

it("ends at Ctrl-C while the edge says nothing", async () => {
  const interrupted = new AbortController();
  send = (_, { signal }) => {
    queueMicrotask(() => interrupted.abort());
    return new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(new TypeError(""))));
  };
  expect((await approve([], undefined, { signal: interrupted.signal })).exitCode).toBe(130);
});

it("shows escapes for what steers a terminal, reorders or imitates", async () => {
  const hostile = "\u001b[2J\u009b1m\u202egnp\u2066\u3164\r\n✓ а";
  waiting(hostile, {
    tool: hostile,
    reason: hostile,
    effects: [hostile] as unknown as ApprovalRequest["effects"],
    grants: [hostile],
    input: { [hostile]: hostile },
  });
  const said = async (words: readonly string[], typing?: readonly Typed[]): Promise<string> => {
    const { output, errorOutput = "", notes } = await approve(words, typing);
    return output + errorOutput + notes;
  };
  // JSON keeps letters as they are, and shows what nobody sees.
  const unseen = /[^\n\P{C}]|[\u202e\u2066\u3164]/u;
  expect(await said(["--json"])).not.toMatch(unseen);
  for (const text of [
    await said([]),
    await said([], [undefined]),
    await said([hostile]),
    await said([`${hostile}x`]),
    await said([`${hostile}x`, "--yes"]),
    await said([hostile, "--no"]),
  ])
    expect(text).toMatch(/^[✓✗–]?[\x20-\x7e\n]*$/);
});
