import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Origin of a server that notes everything that reaches it, by the first segment of the path. */
    readonly canary: string;
    /** Such a server for each browser, by its name: what one lets through says nothing of another that runs beside it. */
    readonly canaries: Readonly<Record<string, string>>;
  }
}

export default async function canaries(project: TestProject): Promise<() => void> {
  const { enabled, instances = [] } = project.config.browser;
  const own = await startCanary();
  const ofBrowsers = await Promise.all((enabled ? instances : []).map(({ browser }) => startCanary(browser)));
  project.provide("canary", own.origin);
  project.provide("canaries", Object.fromEntries(ofBrowsers.map(({ name, origin }) => [name, origin])));
  return () => [own, ...ofBrowsers].forEach(({ stop }) => stop());
}

interface Canary {
  readonly name: string;
  readonly origin: string;
  readonly stop: () => void;
}

/**
 * A server that nothing in an isolate may reach. `GET /hits/TAG` says what did under that tag, one line each, `GET /hits` under any; any other path is
 * a hit, answered so that whoever asked finds nothing to complain about.
 */
async function startCanary(name = ""): Promise<Canary> {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    const url = request.url ?? "";
    response.setHeader("access-control-allow-origin", "*");
    if (url === "/hits") {
      response.end(JSON.stringify(hits));
      return;
    }
    if (url.startsWith("/hits/")) {
      const tag = `/${url.slice("/hits/".length)}/`;
      response.end(JSON.stringify(hits.filter((hit) => hit.includes(tag))));
      return;
    }
    hits.push(`${request.method} ${url}`);
    response.setHeader("content-type", url.endsWith("/events") ? "text/event-stream" : "text/javascript");
    response.end("/**/");
  });
  // A connection that the server closes while it is idle is lost to a client that is about to use it, on a machine that is busy.
  server.keepAliveTimeout = 0;
  server.on("upgrade", (request, socket) => {
    hits.push(`UPGRADE ${request.url}`);
    socket.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { name, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop };
}
