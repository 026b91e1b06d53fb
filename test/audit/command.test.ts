import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { hashJson } from "@keyhole/kernel";
import { LINE_BYTES } from "@keyhole/kernel/audit";
import { checkpointSigner, createProofKey, keyId, publicKeyOf } from "@keyhole/kernel/policy";
import { type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { filesOf, ioOf, ioWith, typed } from "../support/command-files.ts";
import { thorough } from "../support/size.ts";
import { root } from "../support/sources.ts";
import { wholeLog } from "../support/whole-log.ts";
import { eventsOf, linesOf, recordsOf } from "./log-of.ts";

const records = await recordsOf(20);
const lines = linesOf(records);
const text = lines.map((line) => `${line}\n`).join("");
const run = (files: Record<string, unknown>, file: string, options: Record<string, unknown> = {}) =>
  runCommand(["verify", file, ...typed(options)], ioOf(files));

describe("keyhole verify, on a log", () => {
  it("says what it has verified", async () => {
    const { exitCode, output } = await run({ "audit.jsonl": text }, "audit.jsonl");
    expect(exitCode).toBe(3);
    expect(output).toMatch(/^✓ log +20 events, 0 to 19, from 2026-\S+ to 2026-\S+: none changed, missing or moved\./);
    expect(output).toContain(`Last digest ${records.at(-1)!.hash}`);
    expect(output).toContain(`Root ${(await wholeLog(lines)).root}.`);
  });

  it("does not say that the end is whole where nobody can know it", async () => {
    const cut = `${lines.slice(0, 12).join("\n")}\n`;
    const { exitCode, output } = await run({ "audit.jsonl": cut }, "audit.jsonl");
    expect(exitCode).toBe(3);
    expect(output.split("\n").at(-2)).toBe(
      "Intact, but unvouched: author and end not checked: there is no checkpoint.",
    );
    const json = JSON.parse((await run({ "audit.jsonl": cut }, "audit.jsonl", { json: true })).output) as unknown;
    expect(json).toMatchObject({ verdict: "unvouched", steps: [{ name: "log" }] });
  });

  it.each<[string, unknown]>([
    ["a file of another name", text],
    ["a JSON list", eventsOf(records)],
    ["a page of the HTTP API", { events: eventsOf(records), next: 20 }],
    ["a pretty JSON list", JSON.stringify(eventsOf(records), undefined, 2)],
  ])("knows it in %s", async (_, file) => {
    expect(await run({ file }, "file")).toMatchObject({
      exitCode: 3,
      output: expect.stringMatching(/^✓ log +20 events/),
    });
  });

  it("from a later event on", async () => {
    const page = { events: eventsOf(records).slice(7), next: 20 };
    expect((await run({ page }, "page")).output).toContain("Its beginning is not in the file.");
    expect((await run({ log: lines.slice(7).join("\n") }, "log")).output).toContain("Event 0 is missing");
  });
  it("says of one event, and of none before it, what is true of one and of none", async () => {
    expect((await run({ log: lines[0] }, "log")).output).toMatch(/^✓ log +1 event, 0, from \S+ to \S+: /);
    expect((await run({ log: lines.toSpliced(1, 1).join("\n") }, "log")).output).toMatch(
      / 1 event before it is whole\.$/m,
    );
    expect((await run({ "a.jsonl": "{}\n" }, "a.jsonl")).output).not.toContain("before it");
  });

  it.each<[string, string, unknown]>([
    ["a file without a byte", "a.jsonl", ""],
    ["a list without an event", "a.json", []],
    ["a page without an event", "a.json", { events: [], next: 0 }],
  ])("finds nothing out from %s", async (_, file, content) => {
    const { exitCode, output } = await run({ [file]: content }, file);
    expect(output.split("\n")).toEqual([
      "– log         The log has no event.",
      "Could not tell: an empty log proves nothing. Events may be missing.",
      "",
    ]);
    expect(exitCode).toBe(2);
    const json = JSON.parse((await run({ [file]: content }, file, { json: true })).output) as unknown;
    expect(json).toMatchObject({ verdict: "inconclusive", events: 0, steps: [{ name: "log", outcome: "skipped" }] });
  });

  it.each(["a", "a.txt", "a.json"])("says of a file %s without a byte that it is empty", async (file) => {
    expect(await run({ [file]: "" }, file)).toEqual({ exitCode: 2, output: "", errorOutput: `${file} is empty.\n` });
  });

  it.each<[string, string, RegExp]>([
    [
      "a changed event",
      text.replace('"seq":7', '"seq":8'),
      /^✗ log +Line 8: Event 7 is missing: event 8 came instead\. 7 events before it are whole\.$/m,
    ],
    ["a changed first event", text.replace('"seq":0', '"seq":1'), /^✗ log +Line 1: /],
    ["a damaged first line", `x${text}`, /^✗ log +Line 1: It is not JSON/],
    ["a byte order mark", `\ufeff${text}`, /^✗ log +Line 1: It is not JSON.* The file begins with a byte order mark/],
    ["a missing event", lines.toSpliced(7, 1).join("\n"), /Line 8: Event 7 is missing: event 8 came instead/],
    ["an empty line", lines.toSpliced(7, 0, "").join("\n"), /Line 8: It is not JSON/],
    [
      "a torn end",
      text.slice(0, -40),
      /Line 20: .*19 events before it are whole\. The file does not end with a line end/,
    ],
  ])("names the place of %s", async (_, file, message) => {
    const { exitCode, output } = await run({ "a.jsonl": file }, "a.jsonl");
    expect(output).toMatch(message);
    expect(exitCode).toBe(1);
  });

  it("cannot tell what a line beyond its bound is", async () => {
    const long = `${lines[0]}\n${"x".repeat(LINE_BYTES + 1)}`;
    const { exitCode, output } = await run({ "a.jsonl": long }, "a.jsonl");
    expect(output).toMatch(/^– log +Line 2 .*it is longer than .* 1 event before it is whole\.\nCould not tell: /);
    expect(exitCode).toBe(2);
  });

  it("gives the report as JSON", async () => {
    const { exitCode, output } = await run({ log: lines.toSpliced(7, 1).join("\n") }, "log", { json: true });
    expect(exitCode).toBe(1);
    expect(JSON.parse(output)).toMatchObject({ verdict: "broken", events: 7, seq: 7, reason: expect.any(String) });
  });

  it("that is not there, or cannot be read to its end, is nothing found out", async () => {
    expect(await run({}, "log.jsonl")).toMatchObject({
      exitCode: 2,
      errorOutput: expect.stringContaining("log.jsonl"),
    });
    let reads = 0;
    const files = {
      ...filesOf({ log: text }),
      async *chunks() {
        if (reads++ > 0) throw new Error("EIO");
        yield Buffer.from(text);
      },
    };
    expect(await runCommand(["verify", "log"], ioWith(files))).toMatchObject({
      exitCode: 2,
      errorOutput: expect.stringContaining("EIO"),
    });
  });
});

describe("keyhole verify, with a checkpoint", () => {
  let files: Record<string, unknown>;
  let kid: string;
  beforeAll(async () => {
    const key = await createProofKey();
    kid = await keyId(key);
    const sign = await checkpointSigner(key);
    const signed = async (size: number) => {
      const { root: digest } = await wholeLog(lines.slice(0, size));
      return sign({ origin: "shop", size, root: digest!, time: "2026-01-01T00:00:00.000Z" });
    };
    files = {
      log: text,
      cut: lines.slice(0, 11).join("\n"),
      other: linesOf(await recordsOf(20)).join("\n"),
      checkpoint: await signed(12),
      last: await signed(20),
      key: publicKeyOf(key),
      stranger: publicKeyOf(await createProofKey()),
      "no-key": { kty: "OKP", crv: "Ed25519", x: "AA" },
    };
  });
  const verify = (file: string, options: Record<string, unknown>) =>
    run(files, file, { checkpoint: "checkpoint", ...options });

  it("says whose it is and that the log is its log, and how far it vouches for it", async () => {
    const whole = await verify("log", { checkpoint: "last", keys: "key" });
    expect(whole.exitCode).toBe(0);
    expect(whole.output.split("\n")).toEqual([
      '✓ checkpoint  "shop" of 2026-01-01T00:00:00.000Z, over the first 20 events',
      `✓ signature   of key ${kid}`,
      expect.stringContaining("It is the log of every checkpoint."),
      `Verified: key ${kid}, which you trust, signed it.`,
      "",
    ]);
    const part = await verify("log", { keys: "key" });
    expect(part.exitCode).toBe(3);
    expect(part.output).toContain(`✓ signature   of key ${kid}`);
    expect(part.output.split("\n").at(-2)).toBe(
      "Intact, but unvouched: the last checkpoint covers 12 of 20 events. No signature covers the later events.",
    );
    expect(await verify("log", { checkpoint: "last" })).toMatchObject({
      exitCode: 3,
      output: expect.stringContaining("– signature   Signature not checked"),
    });
  });

  it("finds that an empty log was cut", async () => {
    files["empty.jsonl"] = "";
    const { exitCode, output } = await verify("empty.jsonl", { keys: "key" });
    expect(output).toMatch(/^✗ log +The log was cut: the checkpoint of 2026\S+ covers 12 events\.$/m);
    expect(exitCode).toBe(1);
  });

  it("finds a log that was cut or written anew, and a checkpoint of somebody else", async () => {
    expect(await verify("cut", { keys: "key" })).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining("The log was cut"),
    });
    expect(await verify("other", { keys: "key" })).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining("not those of the checkpoint"),
    });
    expect(await verify("log", { keys: "stranger" })).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining("✗ checkpoint  No trusted key signed it."),
    });
    expect(await run(files, "log", { checkpoint: "key" })).toMatchObject({ exitCode: 1 });
    expect(await verify("log", { keys: "no-key" })).toMatchObject({ exitCode: 2 });
    expect(await run(files, "log", { checkpoint: "nowhere" })).toMatchObject({ exitCode: 2 });
  });
});

describe("keyhole verify, on what belongs beside a log or a proof", () => {
  it.each<[string, unknown, string]>([
    ["a checkpoint", { v: 1, origin: "shop", size: 1, root: "blake3:", time: "" }, "This is a checkpoint."],
    ["a key", { kty: "OKP", crv: "Ed25519", x: "" }, "These are keys."],
    ["several keys", { keys: [] }, "These are keys."],
    ["a package", { manifest: {}, code: "", hash: "" }, "This is a tool's package"],
    ["a policy", { version: "1", posture: "standard" }, "This is a policy"],
  ])("says where %s goes", async (_, file, words) => {
    expect(await run({ file }, "file")).toEqual({
      exitCode: 2,
      output: "",
      errorOutput: expect.stringContaining(words),
    });
  });
});

describe("keyhole verify, on a run", () => {
  const hash = `blake3:${"1".repeat(64)}`;
  const call = { kind: "call", callId: "c", sessionId: "s", tool: "echo@1.0.0", toolHash: hash, inputText: "{}", outputKind: "json", outputBytes: 9, seed: "0".repeat(64), nowMs: 0, real: [] } as const; // prettier-ignore
  const entries: RunEntry[] = [
    call,
    { kind: "request", callId: "c", index: 0, request: {}, requestHash: hashJson({}) },
    { kind: "reply", callId: "c", index: 0, reply: {}, body: null },
    { kind: "outcome", callId: "c", outcome: "returned", result: {}, outcomeHash: hashJson({}) },
  ];

  it("says what is in it and what it needs", async () => {
    const { exitCode, output } = await run({ "a.keyhole": writeRun({ entries }) }, "a.keyhole");
    expect(exitCode).toBe(3);
    expect(output).toMatch(
      /^✓ run  1 call with 1 request, all whole\. Digest blake3:[0-9a-f]{64}\.\n  needs echo@1\.0\.0 blake3:1+\nIntact, but unvouched: a run has no signature, so its author is unknown\.\n$/,
    );
    const real = await run({ a: writeRun({ entries: [{ ...call, real: ["clock"] }, ...entries.slice(1)] }) }, "a");
    expect(real.output).toContain("1 call saw the real clock");
    expect(JSON.parse((await run({ a: writeRun({ entries }) }, "a", { json: true })).output)).toMatchObject({
      verdict: "unvouched",
      calls: 1,
    });
  });

  it("names the line of what is wrong", async () => {
    const file = writeRun({ entries });
    expect(await run({ a: file.split("\n").slice(0, 3).join("\n") }, "a")).toEqual({
      exitCode: 1,
      output:
        "✗ run  Line 4: The file is incomplete: its end is missing.\nBroken: the file is incomplete: its end is missing.\n",
    });
    expect(await run({ a: file.replace('"nowMs":0', '"nowMs":1') }, "a")).toEqual({
      exitCode: 1,
      output: "✗ run  Line 6: A line before this end has changed.\nBroken: a line before this end has changed.\n",
    });
    expect(await run({ a: file.replace('"index":0', '"index":1') }, "a")).toMatchObject({ exitCode: 1 });
  });
});

it("keyhole verify runs as a process, which ends with the code of the verdict", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-"));
  try {
    const file = join(folder, "audit.jsonl");
    writeFileSync(file, text);
    const command = [`--import=${root}scripts/source.mjs`, `${root}packages/keyhole/src/cli.ts`, "verify", file];
    const ended = (more: readonly string[] = []) =>
      promisify(execFile)(process.execPath, [...command, ...more]).then(({ stdout }) => ({ code: 0, stdout }));
    if (thorough)
      await expect(ended()).rejects.toMatchObject({ code: 3, stdout: expect.stringContaining("20 events") });
    const key = await createProofKey();
    const { root: digest } = await wholeLog(lines);
    const state = { origin: "shop", size: 20, root: digest!, time: "2026-01-01T00:00:00.000Z" };
    const [checkpoint, keys] = [join(folder, "checkpoint.json"), join(folder, "keys.json")];
    writeFileSync(checkpoint, JSON.stringify(await (await checkpointSigner(key))(state)));
    writeFileSync(keys, JSON.stringify(publicKeyOf(key)));
    const trusted = ["--checkpoint", checkpoint, "--keys", keys];
    expect(await ended(trusted)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Verified: /m) });
    writeFileSync(file, lines.toSpliced(3, 1).join("\n"));
    await expect(ended()).rejects.toMatchObject({ code: 1 });
    if (!thorough) return;
    await expect(ended([...trusted, "--pin", await keyId(await createProofKey())])).rejects.toMatchObject({ code: 2 });
    await expect(ended(["--checkpoint", checkpoint, "--keys", join(folder, "absent")])).rejects.toMatchObject({
      code: 2,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
