import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileSink } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CommandIo, type CommandResult, runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioIn } from "../support/command-files.ts";
import { program, removePrograms, toolText } from "../vite/program.ts";

/* The verbs that call tools, as a person takes them one after the other, with real isolates. */

const saveNote = `import { defineTool } from "@keyhole/kernel/tool";
export default defineTool({
  name: "save_note", version: "1.0.0", description: "Saves a note.", tier: 2, effects: ["fs.write"], determinism: "external",
  capabilities: [{ kind: "fs.write", paths: ["**"] }],
  input: { type: "object", properties: { path: { type: "string" }, text: { type: "string" } }, required: ["path", "text"], additionalProperties: false },
  output: { kind: "text" },
  async execute({ path, text }, { files, log }) {
    log("saving");
    await files.write(path, text);
    return \`Saved \${text.length} characters.\`;
  },
});
`;
const policy = {
  version: "1",
  posture: "standard",
  grants: [{ tool: "save_note", capability: { kind: "fs.write", paths: ["notes/**"] } }],
};

let root: string;
beforeAll(() => {
  root = program({
    "tools/save-note.ts": saveNote,
    "tools/greet.ts": toolText("greet", "({ name }) => `Hello ${name}!`"),
    "policy.json": JSON.stringify(policy),
  });
});
afterAll(removePrograms);

const run = async (
  words: readonly string[],
  more: Partial<CommandIo> = {},
): Promise<CommandResult & { notes: string }> => {
  const io = ioIn(root, more);
  const result = await runCommand(words, io);
  return { ...result, notes: io.notes.join("") };
};
const note = (path: string): string => JSON.stringify({ path, text: "Water the plants." });

describe("keyhole run", () => {
  it("prints the data, and notes the decision and the hash", async () => {
    const { exitCode, output, notes } = await run(["run", "greet", "--input", '{"name":"Ada"}']);
    expect([exitCode, output]).toEqual([0, "Hello Ada!\n"]);
    expect(notes).toMatch(/✓ greet@1\.0\.0 in \d+ ms\n {2}The call of greet@1\.0\.0 was allowed/);
    expect(notes).toMatch(/blake3:[0-9a-f]{64}\n$/);
  });

  it("asks on the terminal, and writes the file, the log and the run after a yes", async () => {
    const questions: string[] = [];
    const ask: CommandIo["ask"] = async (_prompt, _signal, question = "") => (questions.push(question), "yes");
    const words = ["run", "save_note", "--input", note("notes/todo.txt"), "--files", "work", "--log", "audit.jsonl"];
    const { exitCode, output, notes } = await run([...words, "--record", "day.keyhole"], { ask });
    expect([exitCode, output]).toEqual([0, "Saved 17 characters.\n"]);
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain("save_note@1.0.0 asks: ");
    expect(questions[0]).toContain('  /path: "notes/todo.txt"\n  /text: "Water the plants."\n  2 arguments');
    expect(questions[0]).toContain("grant: fs.write notes/**");
    expect(notes).toContain("used fs.write: write notes/todo.txt: ok");
    expect(notes).toContain("info: saving");
    expect(readFileSync(join(root, "work/notes/todo.txt"), "utf8")).toBe("Water the plants.");
  });

  it("takes silence, another word and no terminal for a no", async () => {
    const words = ["run", "save_note", "--input", note("notes/todo.txt")];
    for (const word of ["", "y", "YES"]) {
      const { exitCode, notes } = await run(words, { ask: async () => word });
      expect(exitCode).toBe(1);
      expect(notes).toContain("✗ APPROVAL_DENIED: ");
    }
    expect((await run(words)).notes).toContain("There is no terminal here to ask on.");
  });

  it("tells the model's hint from yours, and reports the whole result as JSON", async () => {
    const words = ["run", "save_note", "--input", note("secrets/key.txt")];
    const { exitCode, notes } = await run(words, { ask: async () => "yes" });
    expect(exitCode).toBe(1);
    expect(notes).toMatch(/✗ CAPABILITY_DENIED: .*\n {2}For the model: .*\n {2}For you: /);
    const { output } = await run([...words, "--json"], { ask: async () => "yes" });
    expect(JSON.parse(output)).toMatchObject({
      ok: false,
      error: { code: "CAPABILITY_DENIED" },
      proof: {},
      events: expect.any(Array) as unknown,
    });
  });

  it.each([
    [["run", "gret"], /^tools has no tool gret\. Did you mean greet\?\n$/],
    [["run", "tools/gret.ts"], /^tools\/gret\.ts does not exist\. Did you mean tools\/greet\.ts\?\n$/],
    [["run", "greet", "--input", "{"], /^--input is not JSON: /],
    [["run", "greet", "--input", "@absent.json"], /^absent\.json cannot be read: /],
    [["run", "greet", "--policy", "absent.json"], /^absent\.json cannot be read: /],
    [["run", "greet", "--policy", "tools/greet.ts"], /^tools\/greet\.ts:1:\d+ /],
  ])("starts nothing for %j", async (words, said) => {
    expect(await run(words)).toMatchObject({
      exitCode: 2,
      output: "",
      errorOutput: expect.stringMatching(said) as string,
    });
  });

  it("starts nothing on a log that another kernel has open, and leaves the log as it is", async () => {
    const path = join(root, "held.jsonl");
    const sink = fileSink(path);
    await sink.open();
    const { exitCode, errorOutput } = await run(["run", "greet", "--input", "{}", "--log", "held.jsonl"]);
    expect([exitCode, errorOutput]).toEqual([
      2,
      expect.stringMatching(/^This process has the log .*held\.jsonl open\./),
    ]);
    expect(readFileSync(path, "utf8")).toBe("");
    await sink.close();
  });

  it("ends with 130 at Ctrl-C", async () => {
    writeFileSync(join(root, "wait.ts"), toolText("wait", '(_, { log }) => { log("looping"); for (;;); }'));
    const interrupted = new AbortController();
    const note = (text: string): void => {
      if (text.includes("looping")) interrupted.abort();
    };
    const ended = run(["run", "wait.ts"], { signal: interrupted.signal, note });
    expect(await ended).toMatchObject({ exitCode: 130, errorOutput: "Interrupted.\n" });
  });
});

describe("what a run leaves", () => {
  it("is shown by keyhole log show, filtered by type, call and tool", async () => {
    const printed: string[] = [];
    const print = (text: string): void => void printed.push(text);
    await run(["log", "show", "audit.jsonl"], { print });
    const started = printed.find((line) => line.includes("tool.started"))!;
    expect(started).toMatch(
      /^ +\d+ \d\d:\d\d:\d\d\.\d{3} [0-9a-f-]{12} tool\.started host=node tool=save_note@1\.0\.0 toolHash=blake3:[0-9a-f]{12}…\n$/,
    );
    const all = printed.splice(0);
    await run(["log", "show", "audit.jsonl", "--type", "capability"], { print });
    expect(printed.splice(0).every((line) => line.includes(" capability."))).toBe(true);
    await run(
      [
        "log",
        "show",
        "audit.jsonl",
        "--call",
        started.split(" ").find((word) => word.length === 12 && !word.includes(":"))!,
      ],
      { print },
    );
    expect(printed.splice(0).length).toBeGreaterThan(5);
    await run(["log", "show", "audit.jsonl", "--tool", "greet"], { print });
    expect(printed.splice(0)).toEqual([expect.stringContaining("tool.registered tool=greet@1.0.0")]);
    expect((await run(["log", "show", "audit.jsonl", "--last", "2"])).output).toBe(all.slice(-2).join(""));
    expect((await run(["log", "show", "audit.jsonl", "--last", "x"])).exitCode).toBe(2);
    expect((await run(["log", "show", "policy.json"])).errorOutput).toBe("policy.json is not an audit log.\n");
  });

  it("is exported as CSV, as CloudEvents, and as JSON that verifies as before", async () => {
    const count = readFileSync(join(root, "audit.jsonl"), "utf8").trimEnd().split("\n").length;
    const { notes } = await run(["log", "export", "audit.jsonl", "-o", "copy.jsonl"]);
    expect(notes).toBe(`${count} events written to copy.jsonl\n`);
    expect(readFileSync(join(root, "copy.jsonl"), "utf8")).toBe(readFileSync(join(root, "audit.jsonl"), "utf8"));
    await run(["log", "export", "audit.jsonl", "--format", "csv", "-o", "log.csv"]);
    const rows = readFileSync(join(root, "log.csv"), "utf8").trimEnd().split("\n");
    expect(rows).toHaveLength(count + 1);
    expect(rows[1]).toMatch(/^0,2\S+Z,[a-z.]+,/);
    const hostile = { sessionId: "=cmd|'/C calc'!A0\u001b[2J\u202e\r\n", payload: { caller: "\u202e=1" } };
    const event = { seq: 0, time: "2026-01-01T00:00:00.000Z", type: "call.invoked", callId: null, hash: "h" };
    writeFileSync(join(root, "hostile.jsonl"), `${JSON.stringify({ ...event, ...hostile })}\n`);
    await run(["log", "export", "hostile.jsonl", "--format", "csv", "-o", "hostile.csv"]);
    expect(readFileSync(join(root, "hostile.csv"), "utf8").split("\n")[1]).toBe(
      String.raw`0,2026-01-01T00:00:00.000Z,call.invoked,,'=cmd|'/C calc'!A0\u001b[2J\u202e\r\n,"{""caller"":""\u202e=1""}",h`,
    );
    const printed: string[] = [];
    const words = ["log", "export", "audit.jsonl", "--format", "cloudevents"];
    expect((await run(words)).errorOutput).toBe("A CloudEvent names its log: --source URI.\n");
    await run([...words, "--source", "https://example.com/log"], { print: (text) => void printed.push(text) });
    expect(JSON.parse(printed[0]!)).toMatchObject({ specversion: "1.0", source: "https://example.com/log" });
    expect((await run([...words, "-o", "no/such/folder", "--source", "urn:a"])).exitCode).toBe(2);
    expect((await run(["verify", "copy.jsonl"])).exitCode).toBe(3);
  });

  it("is replayed to the same bytes, diverges for a changed tool, and is refused without the tool", async () => {
    const { exitCode, output } = await run(["replay", "day.keyhole"]);
    expect([exitCode, output]).toEqual([0, "✓ 1 call gave the same bytes\n  save_note@1.0.0 returned\n"]);
    writeFileSync(join(root, "changed.ts"), saveNote.replace("Saved", "Kept"));
    const changed = await run(["replay", "day.keyhole", "--instead", "changed.ts"]);
    expect(changed).toMatchObject({ exitCode: 1, output: expect.stringMatching(/^✗ .*Saved.*Kept/s) as string });
    expect(await run(["replay", "day.keyhole", "--tools", "tools/greet.ts"])).toMatchObject({
      exitCode: 2,
      errorOutput: expect.stringContaining("is not among the tools") as string,
    });
    expect((await run(["replay", "audit.jsonl"])).exitCode).toBe(2);
  });

  it("is decided again under another policy", async () => {
    writeFileSync(join(root, "strict.json"), JSON.stringify({ version: "1", posture: "strict" }));
    const { exitCode, output } = await run(["policy", "simulate", "strict.json", "day.keyhole"]);
    expect(exitCode).toBe(1);
    expect(output).toMatch(/^\* .*save_note@1\.0\.0 +anonymous +allow +deny$/m);
    expect(output).toMatch(/\n1 of 1 decisions changed\n$/);
    expect((await run(["policy", "simulate", "strict.json", "audit.jsonl"])).errorOutput).toContain(
      "digests of arguments",
    );
    writeFileSync(
      join(root, "calls.json"),
      JSON.stringify([{ tool: "greet", input: {}, time: "2026-01-01T00:00:00Z", decision: "allow" }]),
    );
    expect((await run(["policy", "simulate", "policy.json", "calls.json"])).output).toContain(
      "0 of 1 decisions changed",
    );
  });

  it("is decided again in its session", async () => {
    const recorded = readFileSync(join(root, "day.keyhole"), "utf8").split("\n");
    const { sessionId } = JSON.parse(recorded.find((line) => line.includes("sessionId")) ?? "{}") as {
      sessionId: string;
    };
    const rule = { id: "r", effect: "deny", when: { session: [sessionId] }, reason: "x" };
    writeFileSync(join(root, "sessions.json"), JSON.stringify({ ...policy, rules: [rule] }));
    expect((await run(["policy", "simulate", "sessions.json", "day.keyhole"])).output).toMatch(/allow +deny +r$/m);
  });

  it("is decided again for a caller", async () => {
    const rule = { id: "r", effect: "deny", when: { caller: ["agent"] }, reason: "x" };
    writeFileSync(join(root, "callers.json"), JSON.stringify({ version: "1", posture: "standard", rules: [rule] }));
    const words = ["policy", "simulate", "callers.json", "calls.json"];
    const anonymous = await run(words);
    expect([anonymous.exitCode, anonymous.notes]).toEqual([0, expect.stringContaining("--caller NAME")]);
    expect((await run([...words, "--caller", "agent"])).output).toMatch(/agent +allow +deny +r/);
  });
});

describe("keyhole policy explain", () => {
  it("says how a call would be decided, and calls nothing", async () => {
    const words = ["policy", "explain", "policy.json", "--tool", "save_note", "--input"];
    const asked = await run([...words, note("notes/unwritten.txt"), "--json"]);
    expect(JSON.parse(asked.output)).toMatchObject({ decision: "ask", question: { tool: "save_note@1.0.0" } });
    expect((await run([...words, note("notes/unwritten.txt")])).output).toMatch(
      /^ask: The call of save_note@1\.0\.0 was asked about: /,
    );
    expect((await run([...words, "{}"])).output).toMatch(/^deny: save_note@1\.0\.0\n {2}INVALID_INPUT: /);
    expect(existsSync(join(root, "notes"))).toBe(false);
    expect((await run(["policy", "explain", "policy.json"])).errorOutput).toContain("Name a call: --tool TOOL");
  });

  it("says why a result was decided, and quotes the rule of the policy", async () => {
    const { output } = await run(["run", "save_note", "--input", note("notes/a.txt"), "--json"]);
    writeFileSync(join(root, "result.json"), output);
    expect((await run(["policy", "explain", "result.json"])).output).toMatch(
      /^The call of save_note@1\.0\.0 was asked about: .*\n {2}It was decided at /,
    );
  });
});

describe("keyhole list", () => {
  it("says what each tool declares", async () => {
    const { exitCode, output } = await run(["list"]);
    expect(exitCode).toBe(0);
    expect(output).toContain(
      "save_note@1.0.0  tools/save-note.ts\n  Saves a note.\n  tier 2, external, fs.write; for a JavaScript isolate\n",
    );
    expect(JSON.parse((await run(["list", "--json"])).output)).toMatchObject({
      tools: [{ manifest: { name: "greet" } }, {}],
      faults: [],
    });
  });

  it("reads packages, and refuses one that was changed", async () => {
    await run(["pack", "tools", "-o", "packed"]);
    expect((await run(["list", "packed"])).output).toContain("greet@1.0.0  packed/greet.json");
    const path = join(root, "packed/greet.json");
    writeFileSync(path, readFileSync(path, "utf8").replace("Hello", "Hullo"));
    expect(await run(["list", "packed"])).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/✗ packed\/greet\.json: The package says/) as string,
    });
  });
});

describe("keyhole doctor", () => {
  it("packs a tool and calls it, and names the policy", async () => {
    const { exitCode, output } = await run(["doctor"]);
    expect(exitCode).toBe(0);
    expect(output).toContain(
      "✓ packer: packs a tool, and reads its manifest in an isolate\n✓ isolates: a tool answers",
    );
    expect(output).toContain("✓ policy: policy.json");
  });
});
