import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import type { BrowserServer } from "playwright";
import type { TestProject } from "vitest/node";
import { chromiumArgs, findChromium } from "../../../scripts/chromium.mjs";
import { buildTestEdge } from "../edge/build.ts";
import { Keeper } from "../../../packages/edge/src/dev/keeper.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Origin of a server that answers once everything that `npm start` serves is built; `/test-edge` says the folder of the tests' own edge, `/browser` the address of a Chromium for all files. */
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

async function startBrowser(): Promise<BrowserServer> {
  // Most runs of a single file open no browser.
  const { chromium } = await import("playwright");
  const executablePath = findChromium();
  return chromium.launchServer({
    args: [...chromiumArgs],
    host: "127.0.0.1",
    ...(executablePath !== undefined && { executablePath }),
  });
}

/** What the tests of the page and the edge share, made once in a run, when the first file asks. */
class Made {
  users = 0;
  #build: Build | undefined;
  #testEdge: Promise<string> | undefined;
  #browser: Promise<BrowserServer> | undefined;

  /** @throws {Error} with the build's own output */
  async site(): Promise<string> {
    const { code, output } = (this.#build ??= startBuild());
    const said = await output;
    if ((await code) !== 0) throw new Error(said);
    return said;
  }

  testEdge(): Promise<string> {
    return (this.#testEdge ??= buildTestEdge());
  }

  async browser(): Promise<string> {
    return (await (this.#browser ??= startBrowser())).wsEndpoint();
  }

  async end(): Promise<void> {
    this.users -= 1;
    if (this.users > 0) return;
    await this.#build?.stop();
    await this.#browser?.then((each) => each.close()).catch(() => {});
    const folder = await this.#testEdge?.catch(() => undefined);
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

/** Vitest loads this file for each project; two of them must not build into one folder. */
const key = Symbol.for("keyhole.test.built");
const made = ((globalThis as { [key]?: Made })[key] ??= new Made());

export default async function built(project: TestProject): Promise<() => Promise<void>> {
  made.users += 1;
  const server = createServer(({ url }, response) => {
    const making = url === "/test-edge" ? made.testEdge() : url === "/browser" ? made.browser() : made.site();
    making.then(
      (said) => response.writeHead(200).end(said),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  project.provide("built", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.closeAllConnections();
    server.close();
    await made.end();
  };
}
