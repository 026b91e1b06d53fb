import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildAll, isBuilt } from "../../scripts/serve/build.mjs";
import { freePorts } from "../../scripts/serve/ports.mjs";
import { root } from "../support/sources.ts";
import { type Listener, listenersBelow } from "./listening-ports.ts";

const state = mkdtempSync(join(tmpdir(), "keyhole-ports-"));
let page = 0;
let stop = async (): Promise<void> => {};
let listeners: readonly Listener[] = [];

beforeAll(async () => {
  if (!isBuilt()) await buildAll();
  const [pagePort = 0, edge] = await freePorts(2);
  page = pagePort;
  const child = spawn(process.execPath, ["scripts/serve.mjs"], {
    cwd: root,
    env: {
      ...process.env,
      KEYHOLE_PORT: String(page),
      KEYHOLE_EDGE_PORT: String(edge),
      KEYHOLE_STATE: state,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  let said = "";
  const ready = new Promise<void>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.includes("\nready\n")) resolve();
    });
  });
  await Promise.race([ended, ready]);
  if (!said.includes("\nready\n")) throw new Error(`The service ended: ${said}`);
  listeners = listenersBelow(child.pid!);
});

afterAll(async () => {
  await stop();
  rmSync(state, { recursive: true, force: true });
});

/** Of the service, of wrangler's proxies and runtimes, of inspectors. */
const paths = [
  "/",
  "/json",
  "/json/version",
  "/healthz",
  "/v1/tools",
  "/core:user:keyhole-local",
  "/core/dev-registry",
  "/cdn-cgi/explorer/api",
  "/cdn-cgi/explorer/api/d1/database",
  "/cdn-cgi/local/explorer",
  "/cdn-cgi/local/explorer/api/local/workers",
  "/cdn-cgi/local/r2/s3/keyhole-files",
  "/cdn-cgi/local/r2/public/keyhole-files/a",
  "/cdn-cgi/local/platform-proxy",
  "/cdn-cgi/ProxyWorker/play",
  "/cdn-cgi/InspectorProxyWorker/websocket",
];
const upgrade = {
  connection: "upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};
const origins: Readonly<Record<string, string>>[] = [{}, { origin: "https://evil.example" }];

interface Answer {
  /** 0: the connection was closed without an answer in HTTP. */
  readonly status: number;
  readonly body: string;
}

function ask(port: number, method: string, path: string, headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve) => {
    const asked = request({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => (body += text));
      response.on("close", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.on("upgrade", (_, socket) => {
      socket.destroy();
      resolve({ status: 101, body: "" });
    });
    asked.on("error", () => resolve({ status: 0, body: "" })).end();
  });
}

/** What anybody may hear: that something is there. */
function isPublic({ status, body }: Answer, { port }: Listener): boolean {
  if (status === 101) return false;
  return status === 0 || status >= 400 || body === '{"status":"ok"}' || port === page;
}

it("finds every part of the run", () => {
  expect(listeners.length).toBeGreaterThan(6);
  expect(listeners.map(({ port }) => port)).toContain(page);
});

it("listens on the loopback address alone", () => {
  expect(listeners.filter(({ isLoopback }) => !isLoopback)).toEqual([]);
});

const kinds = [
  ["GET", {}],
  ["POST", {}],
  ["GET", upgrade],
] as const;

it.each(kinds)("answers nobody without a token on any port: %s %j", async (method, more) => {
  const said: string[] = [];
  for (const listener of listeners) {
    const asked = paths.flatMap((path) => origins.map((origin) => ({ path, headers: { ...origin, ...more } })));
    for (const { path, headers } of asked) {
      const answer = await ask(listener.port, method, path, headers);
      if (!isPublic(answer, listener)) said.push(`${listener.command} ${path}: ${answer.status} ${answer.body}`);
    }
  }
  expect(said).toEqual([]);
});

it("shows no page of another origin the playground's connection for reloading", async () => {
  const answer = await ask(page, "GET", "/", { ...upgrade, ...origins[1] });
  expect(answer.status).not.toBe(101);
});
