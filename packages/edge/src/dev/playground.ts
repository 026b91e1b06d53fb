import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** The playground: a page in which a person calls the tools of an edge. */
export interface Playground {
  /** Without a slash at the end. */
  readonly url: string;
  stop(): Promise<void>;
}

const types: ReadonlyMap<string, string> = new Map([
  [".html", "text/html; charset=utf-8"],
  [".js", "text/javascript; charset=utf-8"],
  [".css", "text/css; charset=utf-8"],
  [".svg", "image/svg+xml"],
  [".wasm", "application/wasm"],
  [".json", "application/json"],
]);

/** Headers that a page cannot state about itself in a meta element. */
const headers = {
  "content-security-policy": "frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-cache",
};

/**
 * Serves the playground on the loopback address.
 *
 * @param port 1 to 65535
 * @returns `undefined` where the page was not built
 * @throws {Error} where the port is taken
 */
export async function servePlayground(port: number): Promise<Playground | undefined> {
  // In the repository it is where the build of the playground puts it.
  const path = import.meta.url.endsWith(".ts") ? "../../../playground/dist/" : "../playground/";
  const folder = fileURLToPath(new URL(path, import.meta.url));
  if (!existsSync(join(folder, "index.html"))) return undefined;
  const server = createServer(listenerFor(folder));
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Answers with the files that are there now, and with nothing else. */
function listenerFor(folder: string): RequestListener {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = entries.map((entry) => join(entry.parentPath, entry.name));
  const served = new Map(files.map((file) => [`/${file.slice(folder.length).split(sep).join("/")}`, file]));
  return ({ method, url = "" }, response) => {
    const [path = ""] = url.split("?");
    const file = served.get(path === "/" ? "/index.html" : path);
    if (file === undefined || (method !== "GET" && method !== "HEAD")) {
      response.writeHead(file === undefined ? 404 : 405, headers).end();
      return;
    }
    const type = types.get(extname(file)) ?? "application/octet-stream";
    readFile(file).then(
      (content) => response.writeHead(200, { ...headers, "content-type": type }).end(content),
      () => response.writeHead(404, headers).end(),
    );
  };
}
