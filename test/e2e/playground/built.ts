import { spawn } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { Keeper } from "../../../packages/edge/src/dev/keeper.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Origin of a server that answers once everything that `npm start` serves is built. */
    readonly built: string;
  }
}

const script = fileURLToPath(new URL("build.mjs", import.meta.url));

interface Build {
  readonly output: Promise<string>;
  readonly code: Promise<number>;
  stop(): Promise<void>;
}

function startBuild(): Build {
  const keeper = new Keeper();
  // Vitest says "test", with which React would come in its development form.
  const env = { ...process.env, NODE_ENV: "production" };
  const child = spawn(process.execPath, [script], { env, stdio: ["ignore", "pipe", "inherit"] });
  if (child.pid !== undefined) keeper.hold(child.pid);
  const code = new Promise<number>((resolve) => child.on("close", (exit) => resolve(exit ?? 1)));
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await code;
    await keeper.stop();
  };
  return { output: text(child.stdout), code, stop };
}

/** Builds what `npm start` serves, once for all test files that want it, when the first of them asks. */
export default async function built(project: TestProject): Promise<() => Promise<void>> {
  let building: Build | undefined;
  const server = createServer((_request, response) => {
    const { code, output } = (building ??= startBuild());
    void Promise.all([code, output]).then(([exit, said]) => response.writeHead(exit === 0 ? 200 : 500).end(said));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  project.provide("built", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.closeAllConnections();
    server.close();
    await building?.stop();
  };
}
