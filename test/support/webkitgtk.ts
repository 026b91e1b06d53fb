import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { defineBrowserProvider } from "@vitest/browser";
import type { BrowserCommands } from "vitest/browser";
import type { BrowserProvider, BrowserProviderOption, TestProject } from "vitest/node";

export interface WebkitPaths {
  readonly driver: string;
  readonly browser: string;
  readonly screen: string;
}

/**
 * Lets vitest run tests in WebKitGTK, which playwright does not drive: over WebDriver (W3C, level 2), on a screen in memory.
 *
 * @param env variables of the browser's process beside its screen
 */
export function webkitgtk(paths: WebkitPaths, env: NodeJS.ProcessEnv): BrowserProviderOption {
  return defineBrowserProvider({
    // Vitest lets browsers share one server only where their providers have one name.
    name: "playwright",
    supportedBrowser: ["webkit"],
    providerFactory: (project) => new WebkitProvider(project, paths, env),
  });
}

/** One browser, over WebDriver. */
export interface WebkitSession {
  open(url: string): Promise<void>;
  /** Of the page's body. */
  text(): Promise<string>;
  close(): Promise<void>;
}

const START_MS = 120_000;

class WebkitProvider implements BrowserProvider {
  readonly name = "webkitgtk";
  readonly supportsParallelism = false;
  readonly #paths: WebkitPaths;
  readonly #env: NodeJS.ProcessEnv;
  #session: Promise<WebkitSession> | undefined;

  constructor(project: TestProject, paths: WebkitPaths, env: NodeJS.ProcessEnv) {
    this.#paths = paths;
    this.#env = env;
    // Vitest sets a window's size by a command of its provider; these tests have nothing to look at.
    project.browser?.registerCommand("__vitest_viewport" as keyof BrowserCommands, async () => {});
  }

  getCommandsContext(): Record<string, unknown> {
    return {};
  }

  async openPage(_id: string, url: string): Promise<void> {
    this.#session ??= openWebkit(this.#paths, this.#env);
    await (await this.#session).open(url);
  }

  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined);
    this.#session = undefined;
    await session?.close();
  }
}

export async function openWebkit(paths: WebkitPaths, env: NodeJS.ProcessEnv): Promise<WebkitSession> {
  const screen = spawn(paths.screen, ["-displayfd", "3", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const [display] = (await once(createInterface({ input: screen.stdio[3] as Readable }), "line")) as [string];
  const port = await freePort();
  const driver = spawn(paths.driver, ["--host=127.0.0.1", `--port=${port}`], {
    stdio: "ignore",
    env: { ...env, DISPLAY: `:${display}` },
  });
  const children: readonly ChildProcess[] = [driver, screen];
  process.once("exit", () => {
    for (const child of children) child.kill();
  });
  const base = `http://127.0.0.1:${port}`;
  await untilUp(base);
  const capabilities = {
    alwaysMatch: {
      // A page under test loads for as long as it likes; nobody waits for it here.
      pageLoadStrategy: "none",
      "webkitgtk:browserOptions": { binary: paths.browser, args: ["--automation"] },
    },
  };
  const { sessionId } = (await ask("POST", `${base}/session`, { capabilities })) as { readonly sessionId: string };
  const session = `${base}/session/${sessionId}`;
  const script = "return document.body === null ? '' : document.body.textContent";
  return {
    open: async (url) => void (await ask("POST", `${session}/url`, { url })),
    text: async () => String(await ask("POST", `${session}/execute/sync`, { script, args: [] })),
    async close() {
      await ask("DELETE", session).catch(() => {});
      for (const child of children) child.kill();
    },
  };
}

async function untilUp(base: string): Promise<void> {
  const giveUpAt = performance.now() + START_MS;
  for (;;) {
    try {
      await ask("GET", `${base}/status`);
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function ask(method: string, url: string, body?: object): Promise<unknown> {
  const response = await fetch(url, { method, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const { value } = (await response.json()) as { readonly value: unknown };
  if (!response.ok) throw new Error(`WebDriver refused ${method} ${new URL(url).pathname}: ${JSON.stringify(value)}`);
  return value;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (typeof address !== "object" || address === null) throw new Error("a server on TCP has a port");
  return address.port;
}
