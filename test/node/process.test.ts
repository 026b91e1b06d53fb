import { readdirSync, readFileSync } from "node:fs";
import {
  type CallResult,
  createKernel,
  type Kernel,
  type LogEntry,
  terminalTypes,
  type ToolPackage,
  verifyChain,
} from "@keyhole/kernel";
import { nodeHost, processPackage } from "@keyhole/worker-host/node";
import { afterEach, describe, expect, it } from "vitest";

const commands = { node: process.execPath, missing: "/nonexistent/program", cat: "/bin/cat" };
const kernels: Kernel[] = [];
afterEach(async () => {
  for (const kernel of kernels.splice(0)) {
    await expectWholeLog(kernel);
    await kernel.close();
  }
});

/** What a program was still doing when its call ended is recorded behind that end. */
async function expectWholeLog(kernel: Kernel): Promise<void> {
  const log = await kernel.audit.read();
  expect(verifyChain(log)).toMatchObject({ ok: true });
  const ends = log.filter(({ type }) => terminalTypes.includes(type)).map(({ callId }) => callId);
  expect(ends).toHaveLength(new Set(ends).size);
}

/** A tool that is a program of Node, given as text. */
function toolOf(script: string, more: object = {}): ToolPackage<never, never> {
  return processPackage({
    name: "subject",
    version: "1.0.0",
    description: "Under test.",
    process: { command: "node", args: ["-e", script] },
    input: { type: "object" },
    output: { kind: "json" },
    ...more,
  }) as ToolPackage<never, never>;
}

async function kernelWith(tool: ToolPackage<never, never>, grants = tool.manifest.capabilities): Promise<Kernel> {
  const kernel = await createKernel({
    host: nodeHost({ commands }),
    policy: {
      version: "1",
      posture: "permissive",
      grants: grants.map((capability) => ({ tool: "*", capability })),
      rules: [{ id: "run", effect: "allow", when: {}, reason: "A test." }],
    },
  });
  kernels.push(kernel);
  expect(kernel.register(tool)).toMatchObject({ ok: true });
  return kernel;
}

const call = async (tool: ToolPackage<never, never>, input: object = {}, options = {}): Promise<CallResult> =>
  (await kernelWith(tool)).call("subject", input, options);

const echo = "process.stdin.pipe(process.stdout)";

describe("a tool that is a program", () => {
  it("gets its input as JSON on stdin, and its stdout is the output, under the contract", async () => {
    expect(await call(toolOf(echo), { b: 1, a: "é" })).toMatchObject({
      ok: true,
      data: { a: "é", b: 1 },
      effects: ["process.spawn"],
    });
    expect(await call(toolOf("process.stdout.write('text ✓')", { output: { kind: "text" } }))).toMatchObject({
      ok: true,
      data: "text ✓",
    });
    const bytes = toolOf("process.stdout.write(Buffer.from([0, 255]))", { output: { kind: "binary" } });
    expect(await call(bytes)).toMatchObject({ ok: true, data: new Uint8Array([0, 255]) });
  });

  it("is on record like any other request, and so is what it costs", async () => {
    const kernel = await kernelWith(toolOf(echo));
    const { callId } = await kernel.call("subject", {});
    const events = (await kernel.audit.read()).filter((event) => event.callId === callId);
    expect(events.map(({ type }) => type)).toEqual([
      "call.invoked",
      "capability.checked",
      "policy.decided",
      "tool.started",
      "capability.used",
      "tool.completed",
    ]);
    expect(events[4]?.payload).toMatchObject({ kind: "process.spawn", target: "node", outcome: "ok" });
  });

  it("says on stderr what is logged, line by line, and within bounds", async () => {
    const lines: LogEntry[] = [];
    const script = "for (let i = 0; i < 3000; i++) console.error('line ' + i); console.log('null')";
    await call(toolOf(script), {}, { onLog: (entry: LogEntry) => lines.push(entry) });
    expect(lines.slice(0, 2)).toEqual([
      { level: "warn", message: "line 0" },
      { level: "warn", message: "line 1" },
    ]);
    expect(lines).toHaveLength(1_000);
  });

  it.each<[string, string, object, string, string | RegExp]>([
    [
      "an exit code",
      "console.error('a'); console.error('no such row'); process.exit(3)",
      {},
      "TOOL_ERROR",
      /code 3\. a\nno such row$/,
    ],
    ["a signal", "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 1e6)", {}, "TOOL_ERROR", /code 143/],
    ["no JSON", "console.log('{')", {}, "NOT_NORMALIZABLE", /returned text that is not JSON\.$/],
    ["nothing", "", {}, "NOT_NORMALIZABLE", /not JSON/],
    ["no UTF-8", "process.stdout.write(Buffer.from([34, 255, 34]))", {}, "NOT_NORMALIZABLE", /not-utf8/],
    [
      "another contract",
      "console.log('1')",
      { output: { kind: "json", schema: { type: "string" } } },
      "INVALID_OUTPUT",
      /contract/,
    ],
    [
      "more than its bound",
      "console.log('\"' + 'x'.repeat(2000) + '\"')",
      { bounds: { outputBytes: 1_000 } },
      "BOUNDS_EXCEEDED",
      /1000/,
    ],
    ["without end", "setInterval(() => process.stdout.write('x'.repeat(1e6)), 0)", {}, "BOUNDS_EXCEEDED", /4194304/],
    ["late", "setTimeout(() => {}, 1e6)", { bounds: { timeoutMs: 300 } }, "TIMEOUT", /300 ms/],
    ["in a loop", "for (;;);", { bounds: { timeoutMs: 300 } }, "TIMEOUT", /300 ms/],
  ])("that ends with %s", async (_, script, more, code, message) => {
    const kernel = await kernelWith(toolOf(script, more));
    expect(await kernel.call("subject", {})).toMatchObject({
      ok: false,
      error: { code, message: expect.stringMatching(message) as string },
    });
  });

  it("is killed with all that it started, when its call ends", async () => {
    const mark = `keyhole-orphan-${process.pid}`;
    const script = `require("node:child_process").spawn(process.execPath, ["-e", "/*${mark}*/ for (;;);"], { detached: true, stdio: "ignore" }); for (;;);`;
    const running = (): number =>
      readdirSync("/proc").filter((pid) => {
        try {
          return (
            /^\d+$/.test(pid) &&
            Number(pid) !== process.pid &&
            readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(mark)
          );
        } catch {
          return false;
        }
      }).length;
    const controller = new AbortController();
    const ended = call(toolOf(script, { bounds: { timeoutMs: 240_000 } }), {}, { signal: controller.signal });
    // The program, which has the mark in its text, and what it started.
    await expect.poll(running).toBeGreaterThan(1);
    controller.abort();
    expect(await ended).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    await expect.poll(running).toBe(0);
  });

  it("sees nothing of the host's environment, and starts in a folder of its own", async () => {
    const script =
      "console.log(JSON.stringify({ env: Object.keys(process.env), files: require('node:fs').readdirSync('.') }))";
    expect(await call(toolOf(script))).toMatchObject({ ok: true, data: { env: ["KEYHOLE_PROCESS"], files: [] } });
  });

  it("does not run without a grant, nor after it was revoked", async () => {
    const tool = toolOf(echo);
    const without = await kernelWith(tool, []);
    expect(await without.call("subject", {})).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    const other = [{ kind: "process.spawn", commands: [{ command: "node", args: ["-e", "1"] }] }] as const;
    const narrow = await kernelWith(tool, [...other]);
    expect(await narrow.call("subject", {})).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
    const slow = await kernelWith(toolOf("setTimeout(() => {}, 1e6)"));
    const running = slow.call("subject", {});
    await expect.poll(async () => (await slow.audit.read()).some(({ type }) => type === "tool.started")).toBe(true);
    await slow.grants.revoke({ tool: "subject" }, "Enough.");
    expect(await running).toMatchObject({ ok: false, error: { code: "CAPABILITY_DENIED" } });
  });

  it("says how it is without being run", async () => {
    const kernel = await kernelWith(toolOf("process.exit(1)"));
    expect(await kernel.health("subject")).toEqual({ state: "healthy" });
    const gone = await kernelWith(toolOf("", { process: { command: "missing" } }));
    expect(await gone.health("subject")).toMatchObject({ state: "unhealthy" });
    expect(await gone.call("subject", {})).toMatchObject({
      ok: false,
      error: { code: "TOOL_ERROR", message: expect.stringContaining("ENOENT") as string },
    });
  });
});

describe("a package of a program is refused", () => {
  const register = async (tool: unknown) => {
    const kernel = await createKernel({ host: nodeHost({ commands }) });
    kernels.push(kernel);
    return kernel.register(tool as ToolPackage);
  };
  const { manifest } = toolOf(echo);

  it.each<[string, () => unknown, string]>([
    ["where the host does not offer it", () => toolOf("", { process: { command: "rm" } }), "/process/command"],
    ["that names what every object has", () => toolOf("", { process: { command: "constructor" } }), "/process/command"],
    ["as a path", () => toolOf("", { process: { command: "/bin/sh" } }), "/capabilities/0/commands/0/command"],
    ["as a line", () => toolOf("", { process: { command: "cat x" } }), "/capabilities/0/commands/0/command"],
    ["without its capability", () => toolOf("", { capabilities: [], effects: [] }), "/capabilities"],
    [
      "with the capability for another command",
      () => toolOf("", { capabilities: [{ kind: "process.spawn", commands: [{ command: "cat" }] }] }),
      "/capabilities",
    ],
    ["as pure", () => toolOf("", { determinism: "pure" }), "/determinism"],
    ["with code", () => ({ ...toolOf(echo), code: "export default 1" }), "/code"],
    ["without a command", () => ({ manifest: { ...manifest, process: undefined }, code: "", hash: "" }), ""],
    [
      "as a module with a command",
      () => ({ manifest: { ...manifest, source: "module" }, code: "x", hash: "" }),
      "/process",
    ],
  ])("%s", async (_, tool, path) => {
    expect(await register(tool())).toMatchObject({
      ok: false,
      error: { code: "INVALID_MANIFEST", path: expect.stringContaining(path) as string },
    });
  });

  it("whose manifest was changed", async () => {
    const tool = toolOf(echo);
    const changed = { ...tool.manifest, process: { command: "node", args: ["-e", "evil()"] } };
    const capabilities = [{ kind: "process.spawn", commands: [{ command: "node", args: ["-e", "evil()"] }] }];
    expect(await register({ ...tool, manifest: { ...changed, capabilities } })).toMatchObject({
      ok: false,
      error: { code: "PACKAGE_HASH_MISMATCH" },
    });
  });
});
