import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Capability, BrokerReply } from "@keyhole/kernel";
import { spawnBroker } from "@keyhole/worker-host/node";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { sampled } from "../support/sampled.ts";
import { sized } from "../support/size.ts";
import { openSession } from "./session.ts";

// Other tests start programs as well, at the same time: what is left behind here is ours.
const own = mkdtempSync(join(tmpdir(), "keyhole-programs-"));
process.env["TMPDIR"] = own;
afterAll(() => rmSync(own, { recursive: true, force: true }));

const node = process.execPath;
const broker = spawnBroker({
  commands: {
    node,
    sh: "/bin/sh",
    cat: "/bin/cat",
    missing: "/nonexistent/program",
    env: { path: "/usr/bin/env", env: { GIVEN: "yes" } },
  },
});
const grants: readonly Capability[] = [
  {
    kind: "process.spawn",
    commands: ["node", "sh", "cat", "missing", "env"].map((command) => ({
      command,
      args: [{ rest: { oneOf: ["-e", "-c"] } }],
    })),
  },
];

/** Programs are texts of this file, which no pattern for arguments takes: here the broker is looked at, and not the grant. */
const session = (signal?: AbortSignal) => ({
  ...openSession({ grants, ...(signal && { signal }) }),
  refusal: () => undefined,
});
const run = (
  command: string,
  args: readonly string[],
  stdin?: Uint8Array,
  signal?: AbortSignal,
): Promise<BrokerReply> =>
  broker.serve(
    { kind: "process.spawn", operation: "run", arguments: { command, args: [...args] }, ...(stdin && { body: stdin }) },
    session(signal),
  );
const outputOf = (reply: BrokerReply): string =>
  reply.ok ? new TextDecoder().decode(reply.body) : reply.error.message;
const folders = (): string[] => readdirSync(realpathSync(tmpdir())).filter((name) => name.startsWith("keyhole-spawn-"));

/** Processes of the machine that carry this text in their command line, zombies included. */
function alive(text: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
      } catch {
        return false;
      }
    });
}
function zombies(): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return state === "Z" && Number(parent) === process.pid;
    } catch {
      return false;
    }
  });
}

/** After every test: nothing is left on the disk, and no process that nobody has taken note of. */
afterEach(() => {
  const left = [...folders(), ...zombies()];
  if (left.length > 0) throw new Error(`left behind: ${left.join(" ")}`);
});

describe("a program", () => {
  it("does not begin, or ends, whenever its call ends", async () => {
    const mark = "keyhole-whenever";
    for (const delay of sampled(12, 3)) {
      const controller = new AbortController();
      const reply = run("node", ["-e", `/*${mark}*/ setTimeout(() => {}, 1e6)`], undefined, controller.signal);
      // From before its folder is there to after it runs.
      for (let turn = 0; turn < delay; turn++) await new Promise((resolve) => setImmediate(resolve));
      controller.abort();
      expect(await reply).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    }
    expect(alive(mark)).toEqual([]);
  });

  it("gives its output, its errors and its code", async () => {
    const reply = await run("sh", ["-c", "echo out; echo err >&2; exit 3"]);
    expect(reply).toMatchObject({ ok: true, value: { exitCode: 3, stderr: "err\n" } });
    expect(outputOf(reply)).toBe("out\n");
  });

  it("gets its input byte by byte, to the end", async () => {
    const all = Uint8Array.from({ length: 50_000 }, (_, i) => i % 256);
    const reply = await run("cat", [], all);
    expect(reply.ok && reply.body).toEqual(all);
    expect(await run("cat", [])).toEqual({ ok: true, value: { exitCode: 0, stderr: "" }, body: new Uint8Array() });
  });

  it("gets each argument as it is: nothing is a shell", async () => {
    const args = [
      "-e",
      "process.stdout.write(JSON.stringify(process.argv.slice(1)))",
      "a b",
      "$HOME",
      "`id`",
      "*",
      "; echo x",
      "'\"\\",
      "é😀",
      "",
    ];
    expect(JSON.parse(outputOf(await run("node", args)))).toEqual(args.slice(2));
  });

  it("has no environment but what the host gives it, and the mark by which its children are found", async () => {
    const lines = outputOf(await run("env", []))
      .trim()
      .split("\n");
    expect(new Set(lines.map((line) => line.split("=")[0]))).toEqual(new Set(["GIVEN", "KEYHOLE_PROCESS"]));
  });

  it("has no files open but its pipes", async () => {
    const list =
      'process.stdout.write(JSON.stringify(require("fs").readdirSync("/proc/self/fd").map((fd) => { try { return require("fs").readlinkSync("/proc/self/fd/" + fd) } catch { return "" } })))';
    const open = JSON.parse(outputOf(await run("node", ["-e", list]))) as string[];
    // What Node opens for itself is of kinds that lead nowhere.
    expect(open.filter((target) => !/^(?:pipe|socket|anon_inode):|^\/proc\/|^\/dev\/null$|^$/.test(target))).toEqual(
      [],
    );
  });

  it("has a folder of its own, which is gone afterwards with all that is in it", async () => {
    const reply = await run("sh", ["-c", "pwd; mkdir -p a/b; echo x > a/b/c; chmod 0 a/b/c; ls -A"]);
    const [folder = "", content] = outputOf(reply).trim().split("\n");
    expect(folder).toContain("keyhole-spawn-");
    expect(content).toBe("a");
    expect(existsSync(folder)).toBe(false);
  });

  it("that a signal ended has 128 and its number", async () => {
    expect(await run("sh", ["-c", "kill -TERM $$"])).toMatchObject({ ok: true, value: { exitCode: 143 } });
  });

  it("need not read its input", async () => {
    expect(await run("sh", ["-c", "exit 0"], new Uint8Array(4 << 20))).toMatchObject({
      ok: true,
      value: { exitCode: 0 },
    });
  });

  it("that writes without end is ended", async () => {
    expect(await run("sh", ["-c", "yes endless-output; :"])).toMatchObject({
      ok: false,
      error: { code: "BOUNDS_EXCEEDED" },
    });
    expect(alive("endless-output")).toEqual([]);
  });
});

describe("is killed with its call", () => {
  /** Starts a program, cancels its call when it says so, and waits for the answer. */
  const cancelWhenStarted = async (script: string, mark: string): Promise<BrokerReply> => {
    const controller = new AbortController();
    const reply = run("sh", ["-c", script], undefined, controller.signal);
    while (alive(`sleep\u0000${mark}`).length === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    return reply;
  };

  it.each([
    ["a program that never ends", "sleep 4711.01", "4711.01"],
    ["one that does not hear SIGTERM", "trap '' TERM INT HUP; while :; do sleep 4711.02; done", "4711.02"],
    ["children of its children", "sh -c 'sh -c \"sleep 4711.03; :\"; :'; :", "4711.03"],
    [
      "children in the background",
      "for i in 1 2 3 4 5 6 7 8; do (trap '' TERM; sleep 4711.04) & done; wait",
      "4711.04",
    ],
    ["children that have left its group", "setsid sh -c 'setsid sleep 4711.05; :' & wait", "4711.05"],
    [
      "children that make children, faster than one is killed",
      // Some 800 of them, or 90: with no end, a machine that is late by a second does nothing else any more.
      'f() { sleep 4711.06 & if [ "$1" -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & fi; wait; }; f ' + sized(5, 8),
      "4711.06",
    ],
  ])("%s", async (_, script, mark) => {
    expect(await cancelWhenStarted(script, mark)).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    expect(alive(mark)).toEqual([]);
  });

  it("and what it leaves behind when it ends by itself", async () => {
    const reply = await run("sh", ["-c", "(trap '' HUP; sleep 4711.07) & setsid sleep 4711.07 & echo left"]);
    expect(outputOf(reply)).toBe("left\n");
    expect(alive("4711.07")).toEqual([]);
  });

  it("and is not started for a call that has ended", async () => {
    expect(await run("sh", ["-c", "echo x"], undefined, AbortSignal.abort())).toMatchObject({
      ok: false,
      error: { code: "CANCELLED" },
    });
  });
});

describe("is refused", () => {
  it("whose file is not there", async () => {
    expect(await run("missing", [])).toMatchObject({
      ok: false,
      error: { code: "UNAVAILABLE", message: "missing cannot be started: ENOENT." },
    });
  });

  it("with a bound for what it does not count", async () => {
    const request = { kind: "process.spawn", operation: "run", arguments: { command: "cat", fuel: 1 } } as const;
    expect(await broker.serve(request, session())).toMatchObject({ ok: false, error: { code: "INVALID_REQUEST" } });
  });

  it("at the start: a path that is not absolute, a name that is none", () => {
    expect(() => spawnBroker({ commands: { sh: "sh" } })).toThrow("The path of sh is not absolute");
    expect(() => spawnBroker({ commands: { "a b": "/bin/sh" } })).toThrow("a command is a name");
  });
});
