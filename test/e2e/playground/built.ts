import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { startGuarded } from "../../../scripts/serve/guarded.mjs";

declare module "vitest" {
  interface ProvidedContext {
    /** Origin of a server that answers once everything that `npm start` serves is built. */
    readonly built: string;
  }
}

const script = fileURLToPath(new URL("build.mjs", import.meta.url));

/** Builds what `npm start` serves, once for all test files that want it, when the first of them asks. */
export default async function built(project: TestProject): Promise<() => Promise<void>> {
  let building: ReturnType<typeof startGuarded> | undefined;
  const server = createServer((_request, response) => {
    // Vitest says "test", with which React would come in its development form.
    const build = (building ??= startGuarded([script], { NODE_ENV: "production" }));
    void build.exited.then((code) => response.writeHead(code === 0 ? 200 : 500).end(build.output()));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  project.provide("built", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.closeAllConnections();
    server.close();
    await building?.stop();
  };
}
