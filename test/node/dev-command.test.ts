import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { removePrograms, toolText } from "../vite/program.ts";
import { Person } from "./person.ts";

afterAll(removePrograms);

const policyOf = (...paths: readonly string[]): string =>
  JSON.stringify({
    version: "1",
    posture: "standard",
    grants: [{ tool: "save", capability: { kind: "fs.write", paths } }],
  });
const saves = toolText(
  "save",
  `async ({ name }, { files }) => (await files.write(name, "x"), "saved")`,
  `tier: 2, effects: ["fs.write"], determinism: "external", capabilities: [{ kind: "fs.write", paths: ["**"] }],`,
);

describe("keyhole dev", () => {
  it("takes a changed tool, a new one and a changed policy into the next call", async () => {
    const person = new Person({
      "tools/greet.ts": toolText("greet", "({ name }) => `Hello ${name}`"),
      "tools/save.ts": saves,
      "policy.json": policyOf("notes/**"),
    });
    const { exitCode } = await person.dev(
      ["--log", "audit.jsonl"],
      [
        'greet {"name":"Ada"}',
        async () => {
          const [before] = /greet@1\.0\.0 .* (blake3:\S+)/.exec(person.printed)!;
          person.change("tools/greet.ts", toolText("greet", "({ name }) => `Salve ${name}`"));
          person.change("tools/late.ts", toolText("late", "() => 'here'"));
          await person.reads(/late@1\.0\.0/);
          await person.reads(/greet@1\.0\.0[^]*greet@1\.0\.0/);
          expect(person.printed.lastIndexOf(before)).toBe(person.printed.indexOf(before));
          return 'greet {"name":"Ada"}';
        },
        "late",
        'save {"name":"diary/today"}',
        "yes",
        async () => {
          person.change("policy.json", policyOf("diary/**"));
          await person.reads(/policy\.json[^]*policy\.json/);
          return 'save {"name":"diary/today"}';
        },
        "yes",
        undefined,
      ],
    );
    expect(exitCode).toBe(0);
    expect(person.printed.split("\n").filter((line) => !/^[✓✗]/.test(line))).toEqual([
      "Hello Ada",
      "Salve Ada",
      "here",
      "saved",
      "",
    ]);
    expect(person.notes).toContain("✗ CAPABILITY_DENIED: The policy does not grant fs.write of diary/today.");
    expect(person.questions.filter((question) => question.includes("yes"))).toHaveLength(2);
    const types = readFileSync(join(person.folder, "audit.jsonl"), "utf8").match(/"type":"policy\.changed"/g);
    expect(types).toHaveLength(1);
  });

  it("keeps the tool and the policy before one that is broken, and says which they are", async () => {
    const person = new Person({ "tools/greet.ts": toolText("greet"), "policy.json": policyOf("notes/**") });
    await person.dev(
      [],
      [
        async () => {
          person.change("policy.json", "{");
          await person.reads(/✗ policy\.json:1:2 .* The policy before holds\./);
          rmSync(join(person.folder, "policy.json"));
          await person.reads(/✗ policy\.json is gone\. The policy before holds\./);
          person.change("tools/greet.ts", "export default {");
          await person.reads(/✗ tools\/greet\.ts: /);
          return "";
        },
        'gret {"name":"Ada"}',
        "greet {",
        "greet -",
        'greet {"name":"Ada"}',
        undefined,
      ],
    );
    expect(person.printed).toMatch(/\nAda\n$/);
    expect(person.notes).toContain("✗ TOOL_NOT_FOUND");
    expect(person.notes).toContain("The text after the tool's name is not JSON: ");
    expect(person.notes).toContain("Standard input holds your calls.");
  });

  it("refuses a path that does not exist, and ends at Ctrl-C", async () => {
    const person = new Person({ "tools/greet.ts": toolText("greet") });
    expect(await person.dev(["tols"], [])).toMatchObject({
      exitCode: 2,
      errorOutput: "tols does not exist. Did you mean tools?\n",
    });
    const controller = new AbortController();
    const leaves = async (): Promise<string> => {
      controller.abort();
      return "";
    };
    expect((await person.dev([], [leaves], controller.signal)).exitCode).toBe(130);
  });
});
