import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";

export interface Site {
  /** Origin, without a slash at the end. */
  readonly origin: string;
  /** Method and path of each request, in order. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

/** Resolves when everything that `npm start` serves is built. */
export async function untilBuilt(): Promise<void> {
  const answer = await fetch(inject("built"));
  const output = await answer.text();
  if (!answer.ok) throw new Error(output);
}

/** Where the page is built. */
export const pageFolder = fileURLToPath(new URL("../../../packages/playground/dist/", import.meta.url));

let kept: Promise<Site> | undefined;

/**
 * Serves the files of the built page, and nothing else. One for all test files of a worker, at one origin: a browser keeps what
 * it compiled, by the address.
 */
export async function servePage(): Promise<Site> {
  const site = await (kept ??= serveBuilt());
  return { ...site, close: async () => {} };
}

async function serveBuilt(): Promise<Site> {
  await untilBuilt();
  return serve((request, response) => {
    const path = pathOf(request);
    readFile(join(pageFolder, path === "/" ? "index.html" : path)).then(
      (content) =>
        response
          .writeHead(200, {
            "content-type": types[extname(path)] ?? "text/html",
            // The name of an asset holds its digest.
            "cache-control": path.startsWith("/assets/") ? "max-age=3600" : "no-store",
          })
          .end(content),
      () => response.writeHead(404).end(),
    );
  });
}

const types: Readonly<Record<string, string>> = {
  ".js": "text/javascript",
  ".wasm": "application/wasm",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

function pathOf(request: IncomingMessage): string {
  return new URL(request.url ?? "/", "http://localhost").pathname;
}

export async function serve(listener: RequestListener): Promise<Site> {
  const requests: string[] = [];
  const server: Server = createServer((request, response) => {
    requests.push(`${request.method} ${pathOf(request)}`);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
