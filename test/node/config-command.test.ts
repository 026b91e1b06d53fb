import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CommandResult, runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { ioIn } from "../support/command-files.ts";
import { program, removePrograms, toolText } from "../vite/program.ts";

const server = createServer((request, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ path: request.url }));
});
let folder: string;
let config: string;
beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  config = `version: "1"
tools: [own]
http:
  lookup:
    description: Looks a word up.
    request: { url: "http://127.0.0.1:${port}/words/{word}" }
    input: { type: object, properties: { word: { type: string } }, required: [word] }
pipelines:
  twice:
    description: Looks a word up and greets it.
    input: { type: object, properties: { word: { type: string } }, required: [word] }
    steps:
      - { id: found, tool: lookup, input: { word: { $from: "input#/word" } } }
      - { id: said, tool: greet, input: { name: { $from: "found#/path" } } }
policy:
  version: "1"
  posture: standard
  grants:
    - { tool: lookup, capability: { kind: net.read, hosts: [127.0.0.1], ports: [${port}] } }
    - { tool: twice, capability: { kind: tool.call, tools: [lookup, greet] } }
sink: { file: log.jsonl }
`;
  folder = program({
    "own/greet.ts": toolText("greet", "({ name }) => `Hello ${name}!`"),
    "keyhole.config.yaml": config,
  });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  removePrograms();
});

async function run(...words: readonly string[]): Promise<CommandResult & { readonly notes: string }> {
  const io = ioIn(folder);
  const result = await runCommand(words, io);
  return { ...result, notes: io.notes.join("") };
}

describe("keyhole run with a configuration", () => {
  it("calls a request, a pipeline and a packed tool, and writes the log", async () => {
    expect(await run("run", "lookup", "--input", '{"word":"a/b"}')).toMatchObject({
      exitCode: 1,
      notes: expect.stringContaining("INVALID_INPUT") as string,
    });
    expect(await run("run", "lookup", "--input", '{"word":"ant"}')).toMatchObject({
      exitCode: 0,
      output: '{\n  "path": "/words/ant"\n}\n',
    });
    expect(await run("run", "twice", "--input", '{"word":"ant"}')).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining("Hello /words/ant!") as string,
    });
    expect(readFileSync(join(folder, "log.jsonl"), "utf8")).toContain('"tool":"greet@');
  });

  it("names the nearest tool, and the line of a fault", async () => {
    expect(await run("run", "lookpu")).toMatchObject({
      exitCode: 2,
      errorOutput: expect.stringContaining("Did you mean lookup?") as string,
    });
    writeFileSync(join(folder, "keyhole.config.yaml"), config.replace("tool: greet", "tool: great"));
    expect(await run("run", "lookup")).toMatchObject({
      exitCode: 2,
      errorOutput: expect.stringMatching(/keyhole\.config\.yaml:14:\d+ There is no tool "great"/) as string,
    });
    writeFileSync(join(folder, "keyhole.config.json"), "{}");
    expect(await run("run", "lookup")).toMatchObject({
      exitCode: 2,
      errorOutput: expect.stringContaining("several configurations") as string,
    });
  });
});
