import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { openWhole, writeWhole } from "../../packages/keyhole/src/command/whole-file.ts";
import { type CommandIo, runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioIn } from "../support/command-files.ts";
import { sized } from "../support/size.ts";
import { program, removePrograms, toolText } from "../vite/program.ts";

/* What a person can put before the command that no person wrote: files of gigabytes, folders of everything, an interrupt at any moment. */

afterAll(removePrograms);

/** Runs a command, and counts what it reads of files. */
async function run(folder: string, words: readonly string[], more: Partial<CommandIo> = {}) {
  const io = ioIn(folder, more);
  let readBytes = 0;
  const files: CommandIo["files"] = {
    ...io.files,
    async *chunks(path) {
      for await (const chunk of io.files.chunks(path)) {
        readBytes += chunk.length;
        yield chunk;
      }
    },
  };
  return { ...(await runCommand(words, { ...io, files })), readBytes };
}

describe("a file of 2 GB", () => {
  const sparse = 2 ** 31;
  const folder = program({ "big.jsonl": "", "policy.json": '{"version":"1","posture":"standard"}' });
  truncateSync(join(folder, "big.jsonl"), sparse);
  const big = "big.jsonl";

  /* A log has lines of at most 8 MiB, a run of at most 192, and what is read whole at most 256. */
  const cases: readonly [string, readonly string[], number][] = [
    ["meter", ["meter", big], 257],
    ["verify", ["verify", big], 10],
    ["log show", ["log", "show", big], 10],
    ["log export", ["log", "export", big, "--out", "out.jsonl"], 10],
    ["policy suggest", ["policy", "suggest", big], 10],
    ["replay", ["replay", big], 200],
    ["policy check", ["policy", "check", big], 257],
    ["policy diff", ["policy", "diff", "policy.json", big], 257],
    ["policy simulate", ["policy", "simulate", "policy.json", big], 257],
    ["run --input @", ["run", "none", "--input", `@${big}`], 257],
  ];
  it.each(sized(cases.slice(0, 6), cases))("is refused by %s before it is in memory", async (_, words, mebibytes) => {
    const { exitCode, output, errorOutput = "", readBytes } = await run(folder, words);
    expect(exitCode).toBeGreaterThan(0);
    expect(output + errorOutput).toMatch(/longer than|larger than|is an audit log/);
    expect(readBytes).toBeLessThan(mebibytes * 1_048_576);
    expect(readdirSync(folder)).not.toContain("out.jsonl");
  });
});

describe("a folder of 100,000 files", () => {
  it.each(sized([["list"], ["pack"]], [["list"], ["pack"], ["dev"], ["init", "node"]]))(
    "is refused by %s, or read past",
    async (...words) => {
      const folder = program({ "tools/one.ts": toolText("one") });
      for (let index = 0; index < sized(1_001, 100_000); index++)
        writeFileSync(join(folder, `tools/${index}.json`), "{}");
      for (let index = 0; index < sized(100, 100_000); index++) writeFileSync(join(folder, `${index}.txt`), "");
      const { exitCode, errorOutput } = await run(folder, [...words, "tools"]);
      expect(exitCode).toBe(words[0] === "pack" ? 0 : 2);
      if (words[0] !== "pack") expect(errorOutput).toMatch(/holds more than 1000 files|is not empty/);
      const near = await run(folder, ["list", "tols"]);
      expect(near.errorOutput).toBe("tols does not exist. Did you mean tools?\n");
      rmSync(join(folder, "tools"), { recursive: true });
    },
  );
});

it("a policy of 50,000 rules is refused with its place and the bound", async () => {
  const rules = Array.from({ length: 50_000 }, (_, index) => ({
    id: `rule-${index}`,
    effect: "deny",
    when: { tool: [`tool_${index}`], arguments: [{ at: "/n", equals: index }] },
    reason: "Denied.",
  }));
  const folder = program({ "p.json": JSON.stringify({ version: "1", posture: "standard", rules }) });
  for (const words of sized([["check"]], [["check"], ["compile"], ["diff", "p.json"]])) {
    const { exitCode, output, errorOutput = "" } = await run(folder, ["policy", ...words, "p.json"]);
    expect(exitCode).toBeGreaterThan(0);
    expect(output + errorOutput).toMatch(/^p\.json:1:\d+ .*too-large.* A policy has at most 250000 members\./i);
  }
});

describe("an interrupt", () => {
  /** Aborts when the command looks at its signal for the n-th time. */
  function interruptedAt(count: number): { readonly signal: AbortSignal; readonly looks: () => number } {
    const controller = new AbortController();
    let looks = 0;
    const look = (): void => {
      if (++looks === count) controller.abort(new Error("interrupted"));
    };
    const signal = new Proxy(controller.signal, {
      get(target, name) {
        if (name === "aborted" || name === "throwIfAborted") look();
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value as () => unknown).bind(target) : value;
      },
    });
    return { signal, looks: () => looks };
  }

  const line = '{"seq":0,"time":"","type":"a","callId":null,"payload":{},"prev":"","hash":""}\n';

  it.each([
    ["verify", "log.jsonl"],
    ["log", "show", "log.jsonl"],
    ["policy", "suggest", "log.jsonl"],
    ["policy", "check", "policy.json"],
    ["replay", "run.keyhole"],
    ["meter", "endless.wasm"],
  ])("of %s ends a file without an end", async (...words) => {
    const controller = new AbortController();
    const { files, ...io } = ioIn(program({}), { signal: controller.signal });
    async function* endless(path: string): AsyncGenerator<Uint8Array> {
      for (let count = 0; ; count++) {
        controller.abort(new Error("interrupted"));
        if (count > 1) throw new Error("It reads on.");
        yield Buffer.from(path === "log.jsonl" ? line.repeat(1_000) : " \n".repeat(100));
      }
    }
    const { exitCode } = await runCommand(words, { ...io, files: { ...files, chunks: endless } });
    expect(exitCode).toBe(130);
  });

  it("of init leaves nothing, at each file", async () => {
    const whole = interruptedAt(-1);
    const folder = program({});
    expect((await run(folder, ["init", "node", "app"], { signal: whole.signal })).exitCode).toBe(0);
    rmSync(join(folder, "app"), { recursive: true });
    expect(whole.looks()).toBeGreaterThan(5);
    for (let at = 1; at <= whole.looks(); at++) {
      const { exitCode } = await run(folder, ["init", "node", "app"], { signal: interruptedAt(at).signal });
      expect([at, exitCode, readdirSync(folder)]).toEqual([at, 130, ["package.json"]]);
    }
  });

  it("of log export leaves the file that was there", async () => {
    const folder = program({ "log.jsonl": line.repeat(5), "out.csv": "before" });
    const words = ["log", "export", "log.jsonl", "--format", "csv", "--out", "out.csv"];
    expect((await run(folder, words, { signal: interruptedAt(3).signal })).exitCode).toBe(130);
    expect(readFileSync(join(folder, "out.csv"), "utf8")).toBe("before");
    expect(readdirSync(folder).toSorted()).toEqual(["log.jsonl", "out.csv", "package.json"]);
    expect((await run(folder, words)).exitCode).toBe(0);
    expect(readFileSync(join(folder, "out.csv"), "utf8").split("\n")).toHaveLength(7);
  });
});

describe("a file that is written whole", () => {
  const folder = program({});
  const at = (name: string): string => join(folder, name);
  const drafts = (): readonly string[] => readdirSync(folder).filter((name) => name.endsWith(".tmp"));

  it("keeps its mode, and the link that leads to it", async () => {
    writeFileSync(at("kept"), "before", { mode: 0o640 });
    symlinkSync("kept", at("link"));
    await writeWhole(at("link"), "after", { mode: 0o600 });
    expect([readFileSync(at("kept"), "utf8"), statSync(at("kept")).mode & 0o777]).toEqual(["after", 0o640]);
    await writeWhole(at("secret"), "x", { mode: 0o600 });
    expect(statSync(at("secret")).mode & 0o777).toBe(0o600);
    await expect(writeWhole(at("kept"), "third", { isNew: true })).rejects.toMatchObject({ code: "EEXIST" });
    expect(readFileSync(at("kept"), "utf8")).toBe("after");
    expect(drafts()).toEqual([]);
  });

  it("follows no link that another program put where a draft could be", async () => {
    writeFileSync(at("victim"), "own");
    for (const name of ["plain", "log"]) symlinkSync("victim", at(`${name}.${process.pid}.tmp`));
    await writeWhole(at("plain"), "foreign", { mode: 0o600 });
    const file = await openWhole(at("log"));
    await file.write("foreign");
    await file.end();
    expect([readFileSync(at("plain"), "utf8"), readFileSync(at("log"), "utf8")]).toEqual(["foreign", "foreign"]);
    expect(readFileSync(at("victim"), "utf8")).toBe("own");
    for (const name of ["plain", "log"]) unlinkSync(at(`${name}.${process.pid}.tmp`));
  });

  it("leaves a device where it is, and a folder that is not there to the error", async () => {
    await writeWhole("/dev/null", "x");
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
    await expect(writeWhole(at("no/such/file"), "x")).rejects.toMatchObject({ code: "ENOENT" });
    await expect(openWhole(at("no/such/file")).then((file) => file.end())).rejects.toMatchObject({ code: "ENOENT" });
    mkdirSync(at("folder"));
    await expect(writeWhole(at("folder"), "x")).rejects.toMatchObject({ code: "EISDIR" });
    expect(drafts()).toEqual([]);
  });
});

describe("a file that costs more than its size", () => {
  const event = { seq: 0, time: "2026-01-01T00:00:00.000Z", type: "x", callId: null, prev: "", hash: "" };
  const deep = `${JSON.stringify({ ...event, payload: 0 }).slice(0, -2)}{"x":${"[".repeat(100_000)}${"]".repeat(100_000)}}}\n`;

  it.each([
    ["levels of an event", "log show", `${JSON.stringify({ ...event, payload: {} })}\n${deep}`, "deep.jsonl:2"],
    ["levels of an event", "log export --out out.csv", `${JSON.stringify({ ...event, payload: {} })}\n${deep}`, ":2"],
    ["quotation marks without an end", "import mcp-config", `"${String.raw`\"`.repeat(150_000)}`, "is not JSON"],
    ["quotation marks before a backslash", "import mcp-config", `"${String.raw`\"`.repeat(150_000)}\\`, "is not JSON"],
  ])("is refused for %s by keyhole %s", async (_, verb, text, message) => {
    const folder = program({ "deep.jsonl": text });
    const [first = "", second = "", ...rest] = verb.split(" ");
    const { exitCode, errorOutput } = await run(folder, [first, second, "deep.jsonl", ...rest]);
    expect([exitCode, errorOutput]).toEqual([2, expect.stringContaining(message)]);
  });
});
