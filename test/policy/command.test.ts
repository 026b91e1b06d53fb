import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createProofKey, keyId, proofSigner, publicKeyOf } from "@keyhole/kernel/policy";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { root } from "../support/sources.ts";
import { ioOf } from "../support/command-files.ts";
import { document, record } from "./recorded.ts";

const run = (line: string, files: Record<string, unknown>) => runCommand(line.split(" "), ioOf(files));

describe("keyhole verify", () => {
  it("checks all that it is given evidence for, and says what it means", async () => {
    const { calls, log, manifest } = await record();
    const key = await createProofKey();
    const { signature: _, ...bare } = calls.denied.result.proof!;
    const proof = await (await proofSigner(key)).sign(bare);
    const lines = log.map((event) => JSON.stringify(event)).join("\n");
    const files = {
      proof,
      keys: publicKeyOf(key),
      log: lines,
      policy: document,
      tool: { manifest },
      input: calls.denied.input,
    };
    const { exitCode, output } = await run(
      "verify proof --keys keys --log log --policy policy --tool tool --input input",
      files,
    );
    expect(output.split("\n").slice(0, 9)).toEqual([
      "✓ level 0  digest",
      `✓ level 0  signature      of key ${await keyId(key)}`,
      expect.stringMatching(/^~ level 1 {2}inclusion {6}unvouched: it holds in this log\. /),
      "✓ level 2  re-evaluation",
      expect.stringMatching(/^~ level 3 {2}discharge {6}unvouched: it holds in this log\. /),
      expect.stringMatching(/^Intact, but unvouched: no trusted key vouches for the log: /),
      "",
      "Claimed: The call of subject@1.0.0 was denied: rule eve decided (“Not Eve”).",
      expect.stringContaining("rules were tried"),
    ]);
    expect(exitCode).toBe(3);
    expect(await run("verify proof --keys keys", files)).toMatchObject({ exitCode: 0 });
    expect(await run("verify proof --log log", { ...files, log })).toMatchObject({ exitCode: 3 });
    expect(await run("verify result", { result: calls.denied.result })).toMatchObject({ exitCode: 3 });
    expect(
      await run("verify proof --keys keys", { ...files, keys: { keys: [publicKeyOf(await createProofKey())] } }),
    ).toMatchObject({ exitCode: 1 });
    expect(await run("verify proof", { proof: { ...proof, decision: "allow" } })).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining("✗ level 0  digest"),
    });
    const report = await run("verify proof --json", { proof: { ...proof, tier: 1 } });
    expect(JSON.parse(report.output)).toMatchObject({ verdict: "broken" });
  });

  it.each<[string, Record<string, unknown>]>([
    ["verify", {}],
    ["verify a b", { a: {}, b: {} }],
    ["prove a", { a: {} }],
    ["verify absent", {}],
    ["verify a", { a: "{" }],
    ["verify a --keys k", { a: {}, k: { kty: "RSA" } }],
    ["verify a --tool t", { a: {}, t: 1 }],
    ["policy check absent", {}],
  ])("%s ends with 2", async (line, files) => {
    expect((await run(line, files)).exitCode).toBe(2);
  });

  it.each([
    ["verify a --chekpoint=c", /^unknown option '--chekpoint=?c?'\n\(Did you mean --checkpoint\?\)/],
    ["verify a --chekpoint c", /^unknown option '--chekpoint=?c?'\n\(Did you mean --checkpoint\?\)/],
    ["verify --nope a", /^unknown option '--nope'\n`keyhole --help` has them all\.\n$/],
    ["verify a --checkpoint", /^option '--checkpoint <file>' argument missing\n/],
    ["verify a --checkpoint=", /^--checkpoint names no file\.$/m],
    ["verify a --withheld=no", /^unknown option '--withheld=no'\n/],
    ["verify a --keys k", /^--keys is about a checkpoint: name it/],
    ["verify a --pin k", /^--pin is about a checkpoint: name it/],
    ["verify a --checkpoint c --pin k", /^--pin names a key that is not here/],
    ["verify p --pin", /^option '--pin <thumbprint>' argument missing\n/],
    ["verify p --pin=", /^--pin names no key\.$/m],
    ["verify r --policy p", /^--policy is not for a recorded run\. /],
    ["verify p --checkpoint c", /^--checkpoint is one of a log: name the log/],
    ["verify r --keys k", /^--keys is not for a recorded run\. /],
    ["meter m --keys k", /^unknown option '--keys'\n/],
  ])("checks nothing where something is asked that it does not do: %s", async (line, said) => {
    const { log, calls } = await record();
    const files = {
      a: log.map((event) => JSON.stringify(event)).join("\n"),
      p: calls.denied.result.proof,
      c: [],
      k: {},
      r: '{"format":"keyhole-run"}',
      m: {},
    };
    expect(await run(line, files)).toMatchObject({ exitCode: 2, errorOutput: expect.stringMatching(said) });
  });

  it("lets no file steer the terminal", async () => {
    const { exitCode, output } = await run("verify a", { a: { v: "\u001b[2J\u202e" } });
    expect(exitCode).toBe(1);
    expect(output).not.toMatch(/[\u001b\u202e]/);
  });

  it("runs as a process, offline", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keyhole-"));
    try {
      const { calls } = await record();
      const file = join(folder, "proof.json");
      writeFileSync(file, JSON.stringify(calls.allowed.result.proof));
      const command = [`--import=${root}scripts/source.mjs`, `${root}packages/keyhole/src/cli.ts`, "verify", file];
      await expect(promisify(execFile)(process.execPath, command)).rejects.toMatchObject({
        code: 3,
        stdout: expect.stringContaining("✓ level 0  digest"),
      });
      writeFileSync(file, JSON.stringify({ ...calls.allowed.result.proof, tier: 3 }));
      await expect(promisify(execFile)(process.execPath, command)).rejects.toMatchObject({ code: 1 });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("keyhole policy check", () => {
  const text = (rules: string) => `{\n  "version": "1",\n  "posture": "standard",\n  "rules": [\n${rules}\n  ]\n}`;
  const rule = (id: string, effect: string) =>
    `    { "id": "${id}", "effect": "${effect}", "when": { "tool": ["x"] }, "reason": "x" }`;
  it("names the line", async () => {
    const wrong = text(rule("a", "deny").replace('"tool"', '"tol"'));
    expect(await run("policy check p", { p: wrong })).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/^p:5:\d+ /),
    });
    const dead = text(`${rule("a", "allow")},\n${rule("b", "deny")}`);
    expect(await run("policy check p", { p: dead })).toMatchObject({
      exitCode: 1,
      output: expect.stringMatching(/^p:5 a is contradicting: /),
    });
    expect(await run("policy check p", { p: text(rule("a", "allow")) })).toMatchObject({
      exitCode: 0,
      output: expect.stringMatching(/^1 rule, blake3:/),
    });
  });
});
