import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { type CommandIo, runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioIn } from "../support/command-files.ts";
import { program, removePrograms, toolText } from "../vite/program.ts";

afterAll(removePrograms);

const run = (folder: string, line: string, more?: Partial<CommandIo>) =>
  runCommand(line.split(" "), ioIn(folder, more));

describe("keyhole pack", () => {
  it("writes one package for each tool of a folder, and nothing for tests, declarations and what tools import", async () => {
    const root = program({
      "tools/one.ts": `import { word } from "./lib/word.ts";\n${toolText("one", "() => word")}`,
      "tools/two.js": toolText("two"),
      "tools/lib/word.ts": "export const word = 'here';",
      "tools/one.test.ts": "throw new Error('run');",
      "tools/types.d.ts": "declare const a: 1;",
      "tools/_draft.ts": "no tool",
      "tools/readme.md": "",
    });
    const { exitCode, output } = await run(root, "pack tools");
    expect(output.split("\n")).toEqual([
      "✓ one@1.0.0  tools/one.ts → dist/one.json",
      expect.stringMatching(/^ {2}blake3:[0-9a-f]{64}$/),
      expect.stringMatching(/^ {2}\d+ characters, for a JavaScript isolate$/),
      "✓ two@1.0.0  tools/two.js → dist/two.json",
      expect.anything(),
      expect.anything(),
      "",
    ]);
    expect(exitCode).toBe(0);
    expect(readdirSync(join(root, "dist"))).toEqual(["one.json", "two.json"]);
    const pkg = JSON.parse(readFileSync(join(root, "dist/one.json"), "utf8")) as { hash: string };
    expect(output).toContain(pkg.hash);
  });

  it("reports as JSON, and packs the others where one cannot be packed", async () => {
    const root = program({ "good.ts": toolText("good"), "bad.ts": "export default {" });
    const { exitCode, output } = await run(root, "pack good.ts bad.ts --out packages --json");
    expect(exitCode).toBe(1);
    expect(JSON.parse(output)).toMatchObject({
      tools: [{ file: "good.ts", out: "packages/good.json", name: "good", version: "1.0.0", source: "module" }],
      faults: [{ file: "bad.ts", reason: "Expected identifier but found end of file (bad.ts:1:17)" }],
    });
    expect((await run(root, "pack bad.ts")).output).toBe(
      "✗ bad.ts: Expected identifier but found end of file (bad.ts:1:17)\n",
    );
  });

  it("refuses two tools of one name and version, and two files of one name", async () => {
    const root = program({ "a/x.ts": toolText("same"), "b/y.ts": toolText("same"), "b/x.ts": toolText("other") });
    expect((await run(root, "pack a/x.ts b/y.ts")).output).toBe(
      "✗ a/x.ts: same@1.0.0 is also in b/y.ts; change the name or the version\n✗ b/y.ts: same@1.0.0 is also in a/x.ts; change the name or the version\n",
    );
    expect(await run(root, "pack a/x.ts b/x.ts")).toEqual({
      exitCode: 2,
      output: "",
      errorOutput: "a/x.ts and b/x.ts would both go to x.json. Pack them into two folders.\n",
    });
  });

  it("leaves a package that is the same untouched, for those who watch it", async () => {
    const root = program({ "a.ts": toolText("a") });
    await run(root, "pack a.ts");
    const { ino, mtimeMs } = statSync(join(root, "dist/a.json"));
    await run(root, "pack a.ts");
    expect(statSync(join(root, "dist/a.json"))).toMatchObject({ ino, mtimeMs });
  });

  it.each([
    ["tols", "tols does not exist. Did you mean tools?\n"],
    ["tols/echo.ts", "tols does not exist. Did you mean tools?\n"],
    ["tools/ehco.ts", "tools/ehco.ts does not exist. Did you mean tools/echo.ts?\n"],
    ["nothing-like-it", "nothing-like-it does not exist.\n"],
    ["empty", "empty holds no tool: a .ts, .js or .wasm file.\n"],
  ])("names the nearest path of %s", async (path, said) => {
    const root = program({ "tools/echo.ts": toolText("echo") });
    mkdirSync(join(root, "empty"));
    expect(await run(root, `pack ${path}`)).toEqual({ exitCode: 2, output: "", errorOutput: said });
  });

  it("refuses a folder of 100,000 files before it packs one", async () => {
    const root = program({});
    mkdirSync(join(root, "all"));
    for (let index = 0; index < 1_001; index++) writeFileSync(join(root, `all/${index}.ts`), "");
    expect((await run(root, "pack all")).errorOutput).toBe(
      "all holds more than 1000 files; expected a folder of tools.\n",
    );
  });

  it("packs again when a file that a tool imports changes, keeps the package of a broken tool, and ends at Ctrl-C", async () => {
    const root = program({
      "tools/a.ts": `import { word } from "./lib/word.ts";\n${toolText("a", "() => word")}`,
      "tools/lib/word.ts": "export const word = 'first';",
    });
    const interrupted = new AbortController();
    const printed: string[] = [];
    let heard: () => void = () => {};
    const print = (text: string): void => {
      printed.push(text);
      heard();
    };
    const next = () => new Promise<void>((resolve) => (heard = resolve));
    let printing = next();
    const ended = run(root, "pack tools --watch", { print, signal: interrupted.signal });
    const packed = () => readFileSync(join(root, "dist/a.json"), "utf8");
    await printing;
    expect(packed()).toContain("first");

    printing = next();
    writeFileSync(join(root, "tools/lib/word.ts"), "export const word = 'second';");
    await printing;
    expect(packed()).toContain("second");

    printing = next();
    writeFileSync(join(root, "tools/lib/word.ts"), "export const word = ;");
    await printing;
    expect(printed.at(-1)).toMatch(/^✗ tools\/a\.ts: Unexpected ";"/);
    expect(packed()).toContain("second");

    interrupted.abort();
    expect(await ended).toEqual({ exitCode: 0, output: "" });
    rmSync(join(root, "tools"), { recursive: true });
  });

  it.each([
    ["a file that is broken", "word.ts", "export const word = ;"],
    ["a file that is not there", "other.ts", ""],
  ])("with --watch sees the repair of %s from the first round on", async (_, file, text) => {
    const root = program({
      "tools/a.ts": `import { word } from "./lib/word.ts";\n${toolText("a", "() => word")}`,
      [`tools/lib/${file}`]: text,
    });
    const interrupted = new AbortController();
    const rounds = [Promise.withResolvers<string>(), Promise.withResolvers<string>()] as const;
    const print = (line: string): void => rounds[line.startsWith("✗") ? 0 : 1].resolve(line);
    onTestFinished(() => interrupted.abort());
    const ended = run(root, "pack tools --watch", { print, signal: interrupted.signal });
    await rounds[0].promise;
    writeFileSync(join(root, "tools/lib/word.ts"), "export const word = 'repaired';");
    expect(await rounds[1].promise).toMatch(/^✓ a@1\.0\.0/);
    interrupted.abort();
    await ended;
  });
});

describe("the command line", () => {
  it.each([
    ["pak tools", "unknown command 'pak'\n(Did you mean pack?)\n"],
    ["policy chek p", "unknown command 'chek'\n(Did you mean check?)\n"],
    ["pack tools --wach", "unknown option '--wach'\n(Did you mean --watch?)\n"],
    ["pack", "missing required argument 'files'\n"],
    ["verify", "missing required argument 'file'\n"],
    ["verify a b", "too many arguments for 'verify'. Expected 1 argument but got 2: a, b.\n"],
  ])("refuses `%s` with 2 and the nearest word", async (line, said) => {
    const { exitCode, output, errorOutput } = await run("/", line);
    expect([exitCode, output]).toEqual([2, ""]);
    expect(errorOutput).toBe(`${said}\`keyhole --help\` has them all.\n`);
  });

  it("keeps the help of each verb within a terminal of 40 columns, and loses no word", async () => {
    const { output: all } = await run("/", "--help");
    const verbs = [...all.matchAll(/^ {2}([a-z]+)\b/gm)].map(([, name = ""]) => name);
    expect(verbs.length).toBeGreaterThan(12);
    const below = ["diff", "suggest", "simulate"].map((name) => `policy ${name}`);
    for (const words of ["", ...verbs, ...below, "import mcp-config"]) {
      const [narrow, wide] = await Promise.all(
        [40, 400].map((columns) => run("/", `${words} --help`.trim(), { columns })),
      );
      const lines = narrow!.output.split("\n");
      // A command stays whole, and so does a word.
      const long = lines.filter((line) => line.length > 40 && !/^ {2}keyhole |^\S+$/.test(line));
      expect([words, long]).toEqual([words, []]);
      expect(narrow!.output.split(/\s+/)).toEqual(wide!.output.split(/\s+/));
    }
  });

  it("shows its help and ends with 2 where nothing is asked", async () => {
    expect(await runCommand([], ioIn("/"))).toMatchObject({
      exitCode: 2,
      output: expect.stringMatching(/^Usage: keyhole /) as string,
    });
  });
});
