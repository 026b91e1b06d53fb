import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Origin of a server that answers with the folder in which the playground is built. */
    readonly playground: string;
  }
}

const script = fileURLToPath(new URL("build.mjs", import.meta.url));

/** Builds the playground once for all test files that want it, when the first of them asks. */
export default async function builtPlayground(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "keyhole-page-"));
  // Vitest says "test", with which React would come in its development form.
  const env = { ...process.env, NODE_ENV: "production" };
  let building: Promise<unknown> | undefined;
  const server = createServer((_request, response) => {
    building ??= promisify(execFile)(process.execPath, [script, folder], { env });
    building.then(
      () => response.end(folder),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  project.provide("playground", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return () => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  };
}
