import { globSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";

// Serves `site` as your static host does: the files and the headers of `site/_headers`.
const types: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
};
const files = new Map(
  globSync("**", { cwd: "site" })
    .filter((path) => statSync(join("site", path)).isFile())
    .map((path) => [`/${path.replaceAll("\\", "/")}`, readFileSync(join("site", path))]),
);
const [, policy = ""] = /^ {2}Content-Security-Policy: (.*)$/m.exec(readFileSync("site/_headers", "utf8")) ?? [];
const port = Number(process.env.PORT ?? 8080);

const server = createServer((request, response) => {
  // Not with `new URL`, which throws for a target such as `//`: a fault in a listener ends the program.
  const [target = ""] = (request.url ?? "").split("?");
  const path = target === "/" ? "/index.html" : target;
  const content = files.get(path);
  const type = types[extname(path)] ?? "application/octet-stream";
  response.writeHead(content ? 200 : 404, { "content-security-policy": policy, "content-type": type }).end(content);
});
server.listen(port, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
