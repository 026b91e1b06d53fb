import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createKernel, type Kernel, type PolicyDocument } from "@keyhole/kernel";
import { mcpHttp, mcpSource, type McpSource, type McpSourceOptions } from "@keyhole/mcp";
import { filePins, mcpProcess, type McpProcessOptions } from "@keyhole/mcp/node";
import { describe, expect, it } from "vitest";
import { Scripted, plain } from "../mcp/scripted.ts";
import { afterwards, closeAfterEach } from "../mcp/support.ts";

closeAfterEach();

const program = fileURLToPath(new URL("mcp-server.ts", import.meta.url));
const capability = {
  kind: "process.spawn",
  commands: [{ command: "node", args: [{ prefix: "/" }, { rest: { prefix: "" } }] }],
} as const;
const granting: PolicyDocument = { version: "1", posture: "permissive", grants: [{ tool: "*", capability }] };

async function started(
  options: Partial<McpSourceOptions> = {},
  process: Partial<McpProcessOptions> = {},
  policy: PolicyDocument = granting,
): Promise<{ readonly kernel: Kernel; readonly source: McpSource }> {
  const kernel = await createKernel({ policy });
  afterwards(() => kernel.close());
  const server = mcpProcess({ command: "node", args: [program], ...process });
  const source = await mcpSource(kernel, { name: "rude", server, ...options });
  afterwards(() => source.close());
  return { kernel, source };
}

/** The text that a tool answers, or the message of its failure. */
async function textOf(kernel: Kernel, tool: string, caller = "ada"): Promise<string> {
  const result = await kernel.call(tool, {}, { caller });
  if (!result.ok) return `${result.error.code}: ${result.error.message}`;
  return (result.data as { readonly content: readonly [{ readonly text: string }] }).content[0].text;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("a server that is a process", () => {
  it("needs a grant for its command", async () => {
    const { kernel } = await started({}, {}, { version: "1", posture: "permissive" });
    expect(await textOf(kernel, "rude_pid")).toContain("CAPABILITY_DENIED");
  });

  it("ends with its source, and so does all that it started, whether they want to or not", async () => {
    const { kernel, source } = await started();
    const pids = [Number(await textOf(kernel, "rude_pid")), Number(await textOf(kernel, "rude_child"))];
    expect(await textOf(kernel, "rude_cling")).toBe("clings");
    expect(pids.map(isAlive)).toEqual([true, true]);
    await source.close();
    await expect.poll(() => pids.map(isAlive)).toEqual([false, false]);
  });

  it("is another process for each caller, and the same one for all calls of a caller", async () => {
    const { kernel, source } = await started();
    const pids = await Promise.all(["ada", "bob", "ada"].map((caller) => textOf(kernel, "rude_pid", caller)));
    expect(pids[0]).toBe(pids[2]);
    expect(pids[0]).not.toBe(pids[1]);
    await source.close();
    await expect.poll(() => pids.map(Number).map(isAlive)).toEqual([false, false, false]);
  });

  it("gets nothing of this process's environment that it was not given", async () => {
    process.env["KEYHOLE_TEST_SECRET"] = "s3cret";
    const { kernel } = await started({}, { env: { GIVEN: "yes" } });
    const environment = await textOf(kernel, "rude_env");
    expect(environment).toContain('"GIVEN":"yes"');
    expect(environment).not.toContain("s3cret");
  });

  it("may write to stderr without end, and to stdout lines that are no messages", async () => {
    const { kernel } = await started();
    expect(await textOf(kernel, "rude_scream")).toBe("screamed");
    expect(await textOf(kernel, "rude_pid")).toMatch(/^\d+$/);
    const pid = await textOf(kernel, "rude_pid");
    expect(await textOf(kernel, "rude_print")).toBe("printed");
    expect(await textOf(kernel, "rude_pid")).toBe(pid);
  });

  it("that sends a message of 20 MB is killed at once", async () => {
    const { kernel } = await started();
    const pid = Number(await textOf(kernel, "rude_pid"));
    expect(await textOf(kernel, "rude_huge")).toContain("a message of more than");
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(Number(await textOf(kernel, "rude_pid"))).not.toBe(pid);
  });

  it.each([
    ["half an emoji", "rude_cut"],
    ["a list in place of a result", "rude_list"],
    ["a member twice", "rude_twice"],
  ])("that answers with %s fails that call at once, and goes on", async (_, tool) => {
    const { kernel } = await started();
    const pid = await textOf(kernel, "rude_pid");
    expect(await textOf(kernel, tool)).toMatch(/^TOOL_ERROR: .*Its answer cannot be read/);
    expect(await textOf(kernel, "rude_pid")).toBe(pid);
  });

  it("that dies fails its call with its last words, shown whole, and is started again for the next", async () => {
    const { kernel } = await started();
    const failed = await textOf(kernel, "rude_die");
    expect(failed).toContain("The server ended with exit code 7. It said last: It ran \\u001b[8mout of luck.");
    expect(await textOf(kernel, "rude_pid")).toMatch(/^\d+$/);
  });

  it("that is not there is no source, and says so", async () => {
    await expect(started({}, { command: "no-such-program" })).rejects.toThrow("no-such-program cannot be started");
  });
});

it.each<[string, Parameters<typeof mcpProcess>[0]]>([
  ["command", { command: "/opt/server", args: ["a"], env: { TOKEN: "1" } }],
  ["arguments", { command: "server", args: ["a", "b"], env: { TOKEN: "1" } }],
  ["names of variables", { command: "server", args: ["a"], env: { TOKEN: "1", PATH: "x" } }],
  ["folder", { command: "server", args: ["a"], env: { TOKEN: "1" }, cwd: "/" }],
])("the way to a process differs by its %s, and not by a variable's value", (_, other) => {
  const { way } = mcpProcess({ command: "server", args: ["a"], env: { TOKEN: "1" } });
  expect(mcpProcess({ command: "server", args: ["a"], env: { TOKEN: "2" } }).way).toEqual(way);
  expect(mcpProcess(other).way).not.toEqual(way);
  expect(JSON.stringify(mcpProcess({ command: "server", env: { TOKEN: "s3cret" } }).way)).not.toContain("s3cret");
});

it("the way to a server over HTTP is its URL", () => {
  expect(mcpHttp({ url: "https://a.example/mcp?x=1" }).way).toEqual({ url: "https://a.example/mcp?x=1" });
});

describe("a list of tools", () => {
  const opened = async (list: object): Promise<McpSource> => {
    const program = `
      const say = (id, more) => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...more }));
      const capabilities = { tools: {} }, serverInfo = { name: "list", version: "1" };
      const pages = ${JSON.stringify(list)};
      require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method, params } = JSON.parse(line);
        if (method === "initialize") say(id, { result: { protocolVersion: "2025-11-25", capabilities, serverInfo } });
        else if (method === "tools/list") say(id, pages[Number(params?.cursor ?? 0)]);
      });`;
    const { source } = await started({}, { args: ["-e", program] });
    return source;
  };
  const tool = (name: string, more: object = {}): object => ({ name, inputSchema: { type: "object" }, ...more });

  it("refuses each bad definition with the reason, and opens its neighbours", async () => {
    const bad = [
      tool("map", { inputSchema: { type: "object", properties: [] } }),
      tool("text", { description: 5 }),
      null,
    ];
    const { tools } = await opened([{ result: { tools: [tool("good"), ...bad, { name: 1 }] } }]);
    expect(tools.map(({ serverName, state, reason }) => [serverName, state, typeof reason])).toEqual([
      ["(entry 4)", "refused", "string"],
      ["(entry 5)", "refused", "string"],
      ["good", "open", "undefined"],
      ["map", "refused", "string"],
      ["text", "refused", "string"],
    ]);
    expect(tools.find(({ serverName }) => serverName === "map")?.reason).toContain("/inputSchema/properties");
  });

  it("has all pages, however small", async () => {
    const pages = Array.from({ length: 11 }, (_, page) => ({
      result: {
        tools: [0, 1, 2, 3, 4].map((at) => tool(`t${page}_${at}`)),
        ...(page < 10 && { nextCursor: String(page + 1) }),
      },
    }));
    expect((await opened(pages)).tools).toHaveLength(55);
  });

  it("that the server refuses ends with the server's reason, not with the end that followed", async () => {
    const refused = opened([{ error: { code: -32_603, message: "The token has expired" } }]);
    await expect(refused).rejects.toThrow("(-32603): The token has expired");
  });
});

describe("pins in a file", () => {
  it("hold beyond the program, and a file that was altered is refused", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keyhole-pins-"));
    afterwards(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "pins.json");
    const open = async (description: string): Promise<McpSource> => {
      const kernel = await createKernel({ policy: granting });
      afterwards(() => kernel.close());
      const server = new Scripted({ tools: [plain("echo", { description })] });
      return mcpSource(kernel, { name: "peer", server, era: "2025-11-25", pins: filePins(path) });
    };
    expect((await open("Echoes.")).tools).toMatchObject([{ state: "open" }]);
    expect((await open("Steals.")).tools).toMatchObject([{ state: "changed" }]);
    writeFileSync(path, readFileSync(path, "utf8").replace("Echoes.", "Steals."));
    await expect(open("Steals.")).rejects.toThrow("does not match the digest beside it");
    writeFileSync(path, "{}");
    await expect(open("Steals.")).rejects.toThrow("is no file of pins");
  });
});
