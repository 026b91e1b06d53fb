import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, request, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import express from "express";
import { Hono } from "hono";
import { type Place, placeOf } from "./spellings.ts";

/** A real server, and where it leads a path that is sent to it as it is. */
export interface PathServer {
  readonly name: string;
  readonly placeFor: (path: string) => Promise<Place>;
  readonly close: () => Promise<void>;
}

const decoded = (path: string, times: number): string =>
  times === 0 ? path : decoded(decodeURIComponent(path), times - 1);

/** A server of files as people write it, which decodes a path so many times: the second time stands for a proxy before it. */
function filesOf(times: number): RequestListener {
  return ({ url = "/" }, response) => {
    try {
      response.end(placeOf(posix.normalize(decoded(url, times))));
    } catch {
      response.writeHead(400).end("nowhere");
    }
  };
}

function expressApp(): RequestListener {
  const app = express();
  const route = (name: string) => (_: unknown, response: { end: (text: string) => unknown }) => response.end(name);
  app.use("/docs/internal", route("denied"));
  app.use("/docs/:name", ({ params: { name } }, response) => response.end(placeOf(posix.join("/docs", String(name)))));
  app.use("/docs", route("granted"));
  app.use("/admin", route("outside"));
  app.use(route("nowhere"));
  app.use((_error: unknown, _request: unknown, response: { end: (text: string) => unknown }, _next: unknown) =>
    response.end("nowhere"),
  );
  return app as unknown as RequestListener;
}

function honoApp(): RequestListener {
  const app = new Hono();
  app.all("/docs/internal/*", (context) => context.text("denied"));
  app.all("/docs/:name{.+}", (context) => context.text(placeOf(posix.join("/docs", context.req.param("name")))));
  app.all("/docs", (context) => context.text("granted"));
  app.all("/admin/*", (context) => context.text("outside"));
  app.all("*", (context) => context.text("nowhere"));
  app.onError((_, context) => context.text("nowhere"));
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return (asked, response) => void listener(asked, response);
}

async function inProcess(name: string, listener: RequestListener): Promise<PathServer> {
  const server: Server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return clientOf(name, (server.address() as AddressInfo).port, async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  });
}

function clientOf(name: string, port: number, close: () => Promise<void>): PathServer {
  // A connection for each: an idle one can be closed by the server at the moment of the next request.
  const agent = new Agent({ keepAlive: false });
  return {
    name,
    placeFor: (path) =>
      new Promise((resolve) => {
        const sent = request({ host: "127.0.0.1", port, path, agent }, (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
          response.on("end", () => resolve(/^(?:granted|denied|outside)$/.test(text) ? (text as Place) : "nowhere"));
        });
        // No answer is no place either.
        sent.on("error", () => resolve("nowhere")).end();
      }),
    close: async () => {
      agent.destroy();
      await close();
    },
  };
}

/** Files that say where they are. */
function filesAt(root: string): void {
  for (const [path, place] of [
    ["docs/a", "granted"],
    ["docs/internal/salaries", "denied"],
    ["docs/internal/index.html", "denied"],
    ["docs/index.html", "granted"],
    ["admin/salaries", "outside"],
  ] as const) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), place);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function answers(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}.`);
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await setImmediate();
  }
}

/** What is started for a root of files at a port. */
const programs: Readonly<
  Record<string, (root: string, port: number) => readonly [command: string, ...args: string[]]>
> = {
  "python3 http.server": (root, port) => [
    "python3",
    "-m",
    "http.server",
    String(port),
    "--bind",
    "127.0.0.1",
    "-d",
    root,
  ],
  nginx: (root, port) => {
    const config = `daemon off; master_process off; pid ${root}/../nginx.pid; error_log /dev/null; events {}
http { access_log off; client_body_temp_path ${root}/../body; proxy_temp_path ${root}/../proxy; fastcgi_temp_path ${root}/../fastcgi;
uwsgi_temp_path ${root}/../uwsgi; scgi_temp_path ${root}/../scgi;
server { listen 127.0.0.1:${port}; root ${root}; location = /docs/internal { return 200 denied; } } }`;
    writeFileSync(join(root, "../nginx.conf"), config);
    return ["nginx", "-e", "/dev/null", "-c", join(root, "../nginx.conf")];
  },
  caddy: (root, port) => ["caddy", "file-server", "--root", root, "--listen", `127.0.0.1:${port}`],
};

async function program(name: string): Promise<PathServer> {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-paths-"));
  const root = join(folder, "root");
  filesAt(root);
  const port = await freePort();
  const [command, ...args] = programs[name]!(root, port);
  const child = spawn(command, args, { stdio: "ignore", cwd: folder, env: { ...process.env, HOME: folder } });
  await once(child, "spawn");
  await answers(port, child);
  return clientOf(name, port, async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true, force: true });
  });
}

/** All of them; rejects where a program is not installed. */
export async function openServers(): Promise<readonly PathServer[]> {
  return [
    await inProcess("node, decoding once", filesOf(1)),
    await inProcess("node, decoding twice", filesOf(2)),
    await inProcess("express", expressApp()),
    await inProcess("hono", honoApp()),
    ...(await Promise.all(Object.keys(programs).map(program))),
  ];
}

/** Where each server leads each path, in the order of the servers. */
export async function placesOf(servers: readonly PathServer[], path: string): Promise<readonly Place[]> {
  return Promise.all(servers.map((server) => server.placeFor(path)));
}
