import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, urlToHttpOptions } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { freePorts } from "../../scripts/serve/ports.mjs";
import { descendants, listProcesses } from "../../scripts/serve/processes.mjs";
import { thorough } from "../support/size.ts";
import { untilBuilt } from "./playground/site.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

interface Serve {
  readonly child: ChildProcess;
  /** Everything that it printed so far. */
  readonly output: () => string;
  readonly exited: Promise<number | null>;
}

const started: Serve[] = [];
const state = mkdtempSync(join(tmpdir(), "keyhole-state-"));
afterAll(() => rmSync(state, { recursive: true, force: true }));

/** `npm start`'s second half, on ports of its own. */
async function serve(
  env: Record<string, string> = {},
  [command, ...args]: readonly [string, ...string[]] = [process.execPath, "scripts/serve.mjs"],
): Promise<Serve> {
  const [page, edge] = await freePorts(2);
  const child = spawn(command, args, {
    cwd: root,
    env: {
      ...process.env,
      KEYHOLE_PORT: String(page),
      KEYHOLE_EDGE_PORT: String(edge),
      KEYHOLE_STATE: state,
      KEYHOLE_TOKEN: "a-token",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const exited = once(child, "close").then(([code]) => code as number | null);
  const running = { child, output: () => text, exited };
  started.push(running);
  return running;
}

async function untilReady({ output, exited }: Serve): Promise<void> {
  let ended = false;
  void exited.then(() => (ended = true));
  while (!output().includes("Ctrl-C ends everything.")) {
    if (ended) throw new Error(output());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** As `fetch` would not send it: the path is not normalized. */
async function statusOf(page: string, path: string): Promise<number | undefined> {
  const [response] = (await once(request({ ...urlToHttpOptions(new URL(page)), path }).end(), "response")) as [
    IncomingMessage,
  ];
  response.resume();
  return response.statusCode;
}

const stillRunning = (pids: readonly number[]): number[] => {
  const all = new Set(listProcesses().map(({ pid }) => pid));
  return pids.filter((pid) => all.has(pid));
};

beforeAll(untilBuilt);

afterEach(async () => {
  for (const { child, exited } of started.splice(0)) {
    child.kill("SIGTERM");
    await exited;
  }
});

describe("serving", () => {
  it("prints where everything is, serves it, and leaves nothing behind when it is interrupted", async () => {
    const running = await serve();
    await untilReady(running);
    const [, page = "", fragment = ""] = /(http:\S+)\/#(\S+)/.exec(running.output()) ?? [];
    const given = new URLSearchParams(fragment);
    expect(given.get("token")).toBe("a-token");

    const html = await fetch(`${page}/`);
    expect(html.headers.get("content-type")).toContain("text/html");
    expect(html.headers.get("content-security-policy")).toBe("frame-ancestors 'none'");
    expect(await html.text()).toContain('<div id="');
    expect(
      await Promise.all(["/../package.json", "//", "/assets", "/%2e%2e/x"].map((path) => statusOf(page, path))),
    ).toEqual([404, 404, 404, 404]);
    const tools = await fetch(`${given.get("edge")}/v1/tools`, {
      headers: { authorization: "Bearer a-token", origin: page },
    });
    expect(tools.status).toBe(200);
    expect(tools.headers.get("access-control-allow-origin")).toBe(page);
    // The built-in ones, and those of the playground's folder.
    expect(await tools.text()).toMatch(/"id":"append_note@[^]*"id":"echo@[^]*"id":"primes@/);
    expect((await fetch(`${given.get("edge")}/v1/tools`)).status).toBe(401);

    const parts = descendants(running.child.pid!);
    const children = parts.map(({ pid }) => pid);
    expect(children.length).toBeGreaterThan(2);
    const digest = createHash("sha256").update("a-token").digest("hex");
    for (const { pid, command } of parts) {
      const shown = command + (existsSync("/proc") ? readFileSync(`/proc/${pid}/environ`, "utf8") : "");
      // Nor the watchdog's address, whose path is a UUID.
      expect(shown).not.toMatch(new RegExp(`a-token|${digest}|/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-`));
    }
    running.child.kill("SIGINT");
    expect(await running.exited).toBe(0);
    expect(stillRunning(children)).toEqual([]);
  });

  // With npm no signal reaches the program: it has to see by itself that nobody wants it any longer. npm test has the keeper's death
  // of its starter in keeper.test.ts.
  const killed = [
    ["the npm that a person started", "SIGKILL", ["npm", "start"]],
    ["it", "SIGKILL", [process.execPath, "scripts/serve.mjs"]],
    ["the npm that a person started", "SIGTERM", ["npm", "start"]],
    ["a shell", "SIGKILL", ["sh", "-c", `"${process.execPath}" scripts/serve.mjs; true`]],
  ] as const;
  if (thorough) {
    it.each(killed)("ends when %s alone gets %s", async (_, signal, command) => {
      const running = await serve({}, command);
      await untilReady(running);
      const children = descendants(running.child.pid!).map(({ pid }) => pid);
      const url = /edge\s+(http:\S+)/.exec(running.output())![1]!;
      running.child.kill(signal);
      // Its output closes when the last process that writes there has gone.
      await running.exited;
      while (stillRunning(children).length > 0) await new Promise((resolve) => setTimeout(resolve, 50));
      await expect(fetch(`${url}/healthz`)).rejects.toThrow("fetch failed");
    });
  }

  it.each(thorough ? ["KEYHOLE_PORT", "KEYHOLE_EDGE_PORT"] : ["KEYHOLE_EDGE_PORT"])(
    "names the port that is taken, and %s, which changes it",
    async (variable) => {
      const taken = createServer();
      await new Promise((resolve) => taken.listen(0, "127.0.0.1", () => resolve(undefined)));
      const { port } = taken.address() as { readonly port: number };
      const running = await serve({ [variable]: String(port) });
      expect(await running.exited).toBe(1);
      expect(running.output()).toMatch(
        new RegExp(`^Port ${port} \\(\\w+\\) is taken: set ${variable} to another one\\.\\n$`),
      );
      await new Promise((resolve) => taken.close(resolve));
    },
  );

  const wrongPort = ["KEYHOLE_PORT", "eighty", "KEYHOLE_PORT is eighty: a port is a number from 1 to 65535."];
  it.each([
    ...(thorough ? [wrongPort] : []),
    ["KEYHOLE_EDGE_PORT", "65536", "KEYHOLE_EDGE_PORT is 65536: a port is a number from 1 to 65535."],
    ["KEYHOLE_TOKEN", "with spaces", "KEYHOLE_TOKEN has characters that a bearer token cannot have (RFC 6750, 2.1)."],
  ])("refuses %s=%s in one line", async (variable, value, message) => {
    const running = await serve({ [variable]: value });
    expect(await running.exited).toBeGreaterThan(0);
    expect(running.output()).toBe(`${message}\n`);
  });
});
