import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { missing, operationsKernel, temporaryFolder, users } from "./on-machine.ts";

/** Starts a process of this name and waits until the system shows the name. */
async function startNamed(name: string): Promise<number> {
  const program = join(temporaryFolder(), name);
  copyFileSync("/bin/sleep", program);
  const child = spawn(program, ["86400"], { stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  return child.pid ?? 0;
}

/** A server of this process. */
async function listen(): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Each test of a program that this machine lacks is left out: what the tool says then has a test of its own. */
const lacks = (...programs: readonly string[]): boolean => programs.some((name) => missing.includes(name));

describe.skipIf(process.platform !== "linux").each(users)("as %s", (user) => {
  it.skipIf(lacks("df"))("system_metrics_snapshot says how busy the machine is", async () => {
    const kernel = await operationsKernel(user);
    const result = await kernel.call("system_metrics_snapshot", {});
    const total = Number(/MemTotal: +(\d+)/.exec(readFileSync("/proc/meminfo", "utf8"))?.[1]) * 1_024;
    expect(result).toMatchObject({ ok: true, data: { memory: { totalBytes: total } }, effects: ["process.spawn"] });
  });

  it.skipIf(lacks("ps"))("check_process_health finds a process by its id", async () => {
    const kernel = await operationsKernel(user);
    const result = await kernel.call("check_process_health", { pid: process.pid });
    expect(result).toMatchObject({
      ok: true,
      data: { isHealthy: true, found: 1, processes: [{ pid: process.pid, parentPid: process.ppid }] },
    });
  });

  it.skipIf(lacks("ps"))("check_process_health finds none for an id that no process can have", async () => {
    const kernel = await operationsKernel(user);
    const result = await kernel.call("check_process_health", { pid: 4_194_304 });
    expect(result).toMatchObject({ ok: true, data: { isHealthy: false, found: 0, processes: [] } });
  });

  it.skipIf(lacks("ps")).each([
    ["escapes and a line end", "a\u001b[31m\nb", "a?[31m?b"],
    ["text that turns around", "\u202egnp.exe", "\\u202egnp.exe"],
    ["what begins as an option", "-e --no", "-e --no"],
    ["columns of its own", "1 1 0 S 1 1 0.0", "1 1 0 S 1 1 0.0"],
  ])("check_process_health shows a hostile name in one line: %s", async (_, name, shown) => {
    const pid = await startNamed(name);
    const kernel = await operationsKernel(user);
    const byPid = await kernel.call("check_process_health", { pid });
    expect(byPid).toMatchObject({ ok: true, data: { found: 1, processes: [{ pid, name: shown }] } });
    const byName = await kernel.call("check_process_health", { name: shown });
    expect(byName).toMatchObject({
      ok: true,
      data: { processes: expect.arrayContaining([expect.objectContaining({ pid })]) },
    });
  });

  it.skipIf(lacks("ps"))("check_process_health shows a name that is no UTF-8", async () => {
    const child = spawn(
      "/bin/sh",
      ["-c", String.raw`n=$(printf 'x\377\376y'); cp /bin/sleep "$n"; exec "./$n" 86400`],
      {
        cwd: temporaryFolder(),
        stdio: "ignore",
      },
    );
    onTestFinished(() => void child.kill("SIGKILL"));
    await expect.poll(() => readFileSync(`/proc/${child.pid}/comm`, "latin1")).toBe("x\u00ff\u00fey\n");
    const kernel = await operationsKernel(user);
    const result = await kernel.call("check_process_health", { pid: child.pid ?? 0 });
    expect(result).toMatchObject({ ok: true, data: { processes: [{ name: "x??y" }] } });
  });

  it.skipIf(lacks("ps", "ss"))(
    "check_process_health finds what listens on a port, and its process where the user may know it",
    async () => {
      const port = await listen();
      const kernel = await operationsKernel(user);
      const pids = user === "nobody" ? [] : [process.pid];
      // The system's list is no snapshot: while other sockets come and go it can lack one that stays.
      await expect
        .poll(() => kernel.call("check_process_health", { port }))
        .toMatchObject({
          ok: true,
          data: {
            isHealthy: true,
            // Another program of the machine may have the same port of another address.
            listeners: expect.arrayContaining([{ protocol: "tcp", address: "127.0.0.1", port, pids }]),
            processes: pids.length === 0 ? [] : expect.arrayContaining([expect.objectContaining({ pid: process.pid })]),
          },
        });
    },
  );

  it.each([[{}], [{ pid: 1, port: 1 }]])("check_process_health refuses %j", async (input) => {
    const kernel = await operationsKernel(user);
    expect(await kernel.call("check_process_health", input)).toMatchObject({
      ok: false,
      error: { code: "INVALID_INPUT" },
    });
  });

  it("read_system_logs gives the journal, or says what to install", async () => {
    const kernel = await operationsKernel(user);
    const result = await kernel.call("read_system_logs", { limit: 5 });
    if (result.ok) expect(result.data).toMatchObject({ source: "journal" });
    else expect(result.error).toMatchObject({ code: "TOOL_ERROR" });
  });

  it("read_system_logs reads the end of a hostile file", async () => {
    const folder = temporaryFolder();
    const long = "x".repeat(1_048_576);
    const hostile = Buffer.concat([
      Buffer.from("\u001b]0;owned\u0007 \u202eabc\r\n"),
      Buffer.from([0x62, 0xff, 0xfe, 0x0a]),
    ]);
    writeFileSync(join(folder, "app.log"), Buffer.concat([Buffer.from(`${long}\n`), hostile]));
    const kernel = await operationsKernel(user, { logs: [folder] });
    const result = await kernel.call("read_system_logs", { path: join(folder, "app.log") });
    expect(result).toMatchObject({
      ok: true,
      data: {
        source: "file",
        isTruncated: true,
        entries: [{ message: "\\u001b]0;owned\\u0007 \\u202eabc" }, { message: "b\ufffd\ufffd" }],
      },
    });
  });

  it("read_system_logs reads no file outside its folders", async () => {
    const folder = temporaryFolder();
    const kernel = await operationsKernel(user, { logs: [folder] });
    for (const path of ["/etc/passwd", `${folder}/../../etc/passwd`, `${folder}x/a.log`, folder])
      expect(await kernel.call("read_system_logs", { path })).toMatchObject({
        ok: false,
        error: { code: "CAPABILITY_DENIED" },
      });
  });

  it("read_system_logs says why a file cannot be read", async () => {
    const folder = temporaryFolder();
    symlinkSync(join(folder, "loop"), join(folder, "loop"));
    const kernel = await operationsKernel(user, { logs: [folder] });
    for (const name of ["missing.log", "loop"])
      expect(await kernel.call("read_system_logs", { path: join(folder, name) })).toMatchObject({
        ok: false,
        error: { code: "TOOL_ERROR", details: { name: "ProgramFailed" } },
      });
  });
});

it.each([
  ["system_metrics_snapshot", {}, "df", "coreutils"],
  ["check_process_health", { pid: 1 }, "ps", "procps"],
  ["check_process_health", { port: 1 }, "ss", "iproute2"],
  ["read_system_logs", {}, "journalctl", "systemd"],
])("%s of %j without %s says what to install", async (tool, input, program, debianPackage) => {
  const kernel = await operationsKernel(users[0], {}, [program]);
  expect(await kernel.call(tool, input)).toMatchObject({
    ok: false,
    error: {
      code: "TOOL_ERROR",
      details: { name: "ProgramMissing" },
      message: expect.stringContaining(`Install the Debian package ${debianPackage}`),
    },
  });
});

it("LOCKDOWN asks a person about each call that observes, and runs no tests and no linter", async () => {
  const asked: string[] = [];
  const kernel = await operationsKernel(users[0], { repositories: ["/srv"], project: "/srv" }, [], (question) => {
    asked.push(question.tool.replace(/@.*/, ""));
    return question.tool.startsWith("git_status")
      ? { answer: "deny", approver: "ada" }
      : { answer: "allow", scope: "once", approver: "ada" };
  });
  const inputs: readonly (readonly [string, Readonly<Record<string, string | number>>, string | undefined])[] = [
    ["check_process_health", { pid: 1 }, undefined],
    ["git_status", { path: "/srv" }, "APPROVAL_DENIED"],
    ["read_system_logs", { path: "/etc/shadow" }, "CAPABILITY_DENIED"],
    ["run_linter", { linter: "ruff" }, "POLICY_DENIED"],
    ["run_tests", { runner: "pytest" }, "POLICY_DENIED"],
    ["system_metrics_snapshot", {}, undefined],
  ];
  await kernel.setMode("LOCKDOWN", "A test.");
  for (const [tool, input, code] of inputs) {
    const result = await kernel.call(tool, input);
    expect([tool, result.ok ? undefined : result.error.code]).toEqual([tool, code]);
  }
  expect(asked).toEqual(["check_process_health", "git_status", "read_system_logs", "system_metrics_snapshot"]);
});
