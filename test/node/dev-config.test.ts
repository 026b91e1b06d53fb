import { join } from "node:path";
import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { removePrograms, toolText } from "../vite/program.ts";
import { Person } from "./person.ts";

afterAll(removePrograms);

const config = (word: string, more = ""): string => `version: "1"
tools: [own]
pipelines:
  welcome:
    description: Greets the world.
    steps:
      - { id: said, tool: greet, input: { name: ${word} } }
policy:
  version: "1"
  posture: standard
  grants:
    - { tool: welcome, capability: { kind: tool.call, tools: [greet] } }
sink: { file: audit.jsonl }
${more}`;

it("keyhole dev takes a changed configuration into the next call, and keeps the one before while it is broken", async () => {
  const person = new Person({
    "own/greet.ts": toolText("greet", "({ name }) => `Hello ${name}`"),
    "keyhole.config.yaml": config("world"),
  });
  const { exitCode } = await person.dev(
    [],
    [
      "welcome",
      async () => {
        person.change("keyhole.config.yaml", config("moon"));
        await person.reads(/(?:#\/pipelines[^]*){2}/);
        return "welcome";
      },
      async () => {
        person.change("keyhole.config.yaml", config("sun", "polcy: {}\n"));
        await person.reads(/The configuration before holds/);
        return "welcome";
      },
      async () => {
        person.change("keyhole.config.yaml", config("sun"));
        await person.reads(/(?:#\/pipelines[^]*){3}/);
        return "welcome";
      },
      undefined,
    ],
  );
  expect(exitCode).toBe(0);
  expect(person.printed.match(/^Hello .*$/gm)).toEqual(["Hello world", "Hello moon", "Hello moon", "Hello sun"]);
  expect(person.printed).toMatch(/keyhole\.config\.yaml:\d+:\d+ .*polcy/);
  expect(readFileSync(join(person.folder, "audit.jsonl"), "utf8")).toContain('"tool":"welcome@');
});
