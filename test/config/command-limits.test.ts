import { globSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { freePorts } from "../../scripts/serve/ports.mjs";
import { ioIn } from "../support/command-files.ts";
import { root } from "../support/sources.ts";
import { program, removePrograms, toolText } from "../vite/program.ts";

afterAll(removePrograms);

const limits = { deploy: { outputBytes: 100 } };
const configOf = (more: object) => JSON.stringify({ version: "1", tools: ["tools/deploy.ts"], ...more });
const policyOf = (more: object) => JSON.stringify({ version: "1", posture: "permissive", ...more });

describe("the limits of a configuration", () => {
  const folder = program({
    "tools/deploy.ts": toolText("deploy"),
    "keyhole.config.json": configOf({ limits }),
    "policy.json": policyOf({ tools: { deploy: { bounds: limits.deploy } } }),
  });
  const explain = ["policy", "explain", "policy.json", "--tool", "tools/deploy.ts"];

  // Each command that reads a policy for calls meets the second bound of one tool, which the policy has too.
  it.each(
    [["run", "deploy"], explain, ["dev"], ["dev", "--edge"], ["doctor"]].map((words) => [words.join(" "), words]),
  )("reach keyhole %s", async (_, words) => {
    const [port, page] = words.includes("--edge") ? await freePorts(2) : [];
    const ports = port === undefined ? [] : [`--port=${port}`, `--page-port=${page}`];
    const { exitCode, output, errorOutput } = await runCommand([...words, ...ports], ioIn(folder));
    expect([exitCode, `${output}${errorOutput}`]).toEqual([
      words[0] === "doctor" ? 1 : 2,
      expect.stringContaining("The policy bounds this tool too. Keep one of the two."),
    ]);
  });

  it("are in the policy that an explanation is made under, also those of a named configuration", async () => {
    const own = program({
      "tools/deploy.ts": toolText("deploy"),
      "limits.json": configOf({ limits, sink: { file: "audit.jsonl" } }),
      "policy.json": policyOf({}),
    });
    const hashes = await Promise.all(
      [[], ["--config", "limits.json"]].map(async (words) => {
        const { output } = await runCommand([...explain, "--input", '{"name":"x"}', "--json", ...words], ioIn(own));
        return (JSON.parse(output) as { readonly proof: { readonly policyHash: string } }).proof.policyHash;
      }),
    );
    expect(hashes[0]).not.toBe(hashes[1]);
  });

  it("are in each policy that calls wait for: the other readers take a document that no configuration is of", () => {
    const command = `${root}packages/keyhole/src/command/`;
    const readers = globSync("**/*.ts", { cwd: command }).filter((file) =>
      /\breadPolicy\b/.test(readFileSync(command + file, "utf8")),
    );
    expect(readers.toSorted()).toEqual([
      "policy/diff.ts",
      "policy/read-policy.ts",
      "policy/simulate.ts",
      "verify/verify-log-list.ts",
      "verify/verify-log.ts",
      "wrap/home.ts",
    ]);
  });
});
