import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, rmdir, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel, lineOf } from "@keyhole/kernel";
import { fileSink, LogInUse } from "@keyhole/worker-host/node";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { recordsOf } from "./log-of.ts";

let folder: string;
let path: string;
let files = 0;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "keyhole-lock-"))));
beforeEach(() => void (path = join(folder, `${files++}.jsonl`)));
afterAll(() => rm(folder, { recursive: true }));

const records = await recordsOf(6);
const whole = records.map((record) => `${lineOf(record)}\n`).join("");

describe("a log file that a sink", () => {
  it("has open is refused to every other sink, by any link to it, until it is closed", async () => {
    const sink = fileSink(path);
    await sink.open();
    await sink.append(records.slice(0, 2));
    const link = `${path}.link`;
    await symlink(path, link);
    const others = [path, link].map((each) => fileSink(each));
    for (const other of others) await expect(other.open()).rejects.toThrow(`This process has the log ${path} open.`);
    await expect(createKernel({ sink: others[0]! })).rejects.toThrow(LogInUse);
    for (const other of others) await other.close();
    await sink.append(records.slice(2, 3));
    await expect(fileSink(path).open()).rejects.toThrow(LogInUse);
    await sink.close();
    expect(await others[1]!.open()).toMatchObject({ last: records[2], damage: null });
    await others[1]!.close();
  });

  it("had open in a process that was killed is free at once, and whole until then", async () => {
    const module = new URL("../../packages/worker-host/src/node/file-lock.ts", import.meta.url).href;
    const program = `const { lockFile } = await import("${module}"); lockFile(process.argv[1]); console.log("locked"); setInterval(() => {}, 1_000);`;
    await writeFile(path, `${whole}{"torn`);
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program, path]);
    await once(child.stdout, "data");
    const sink = fileSink(path);
    await expect(sink.open()).rejects.toThrow(`Process ${child.pid} has the log ${path} open.`);
    expect(await readFile(path, "utf8")).toBe(`${whole}{"torn`);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await sink.open()).toMatchObject({ last: records[5], cutBytes: 6, damage: null });
    await sink.close();
  });

  it("finds with a file in place of its lock is not opened, and the reason says what to do", async () => {
    await writeFile(`${path}.lock`, "x".repeat(5_000));
    await expect(fileSink(path).open()).rejects.toThrow("file is not a database. Remove it, and start again.");
    await rm(`${path}.lock`);
    await mkdir(`${path}.lock`);
    await expect(fileSink(path).open()).rejects.toThrow("cannot be taken");
    await rmdir(`${path}.lock`);
    const sink = fileSink(path);
    expect(await sink.open()).toMatchObject({ damage: null });
    await sink.close();
  });
});
