import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, describe, expect, it } from "vitest";
import { type CommandResult, runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { freePorts } from "../../scripts/serve/ports.mjs";
import { ioIn } from "../support/command-files.ts";
import { program, removePrograms, toolText } from "../vite/program.ts";

afterAll(removePrograms);

const run = (folder: string, words: readonly string[]): Promise<CommandResult> => runCommand(words, ioIn(folder));

describe("dev --edge", () => {
  const folder = program({ "tools/one.ts": toolText("one") });

  it("refuses a port that is taken, and says what to do", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    expect(await run(folder, ["dev", "--edge", "--port", String(port)])).toMatchObject({
      exitCode: 2,
      errorOutput: `Port ${port} is in use. Name another one with --port.\n`,
    });
    server.close();
  });

  it.each([["0"], ["65536"], ["8e3"], ["-1"], ["\u202e1"]])("refuses the port %j", async (port) => {
    const { exitCode, errorOutput } = await run(folder, ["dev", "--edge", `--port=${port}`]);
    expect([exitCode, errorOutput]).toEqual([
      2,
      `--port takes a port from 1 to 65535; got ${port.replace("\u202e", "\\u202e")}.\n`,
    ]);
  });

  it("refuses one port for edge and page, and --built-in without an edge", async () => {
    const [port = 0] = await freePorts(1);
    expect(await run(folder, ["dev", "--edge", `--port=${port}`, `--page-port=${port}`])).toMatchObject({
      exitCode: 2,
      errorOutput: `Two options name port ${port}. Name another one with --page-port.\n`,
    });
    expect(await run(folder, ["dev", "--built-in"])).toMatchObject({
      exitCode: 2,
      errorOutput: "--built-in is for --edge.\n",
    });
  });

  it("refuses what only the dev without an edge has", async () => {
    const { exitCode, errorOutput } = await run(folder, ["dev", "--edge", "--files", "work"]);
    expect([exitCode, errorOutput]).toEqual([2, "--files is not for --edge: the edge has a store of its own.\n"]);
  });
});
