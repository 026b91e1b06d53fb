import { type Browser, type BrowserContext, chromium } from "playwright";
import { createServer, type Plugin } from "vite";
import { chromiumArgs, findChromium } from "../../scripts/chromium.mjs";

interface PageOptions {
  readonly plugins?: Plugin[];
  /** A folder for what the page stores. Default: none, and it is kept in memory. */
  readonly profile?: string;
}

/** What the script of a page leaves as `figures` on its global object, in Chromium. The folder with its `index.html` is served as the sources are. */
export async function figuresOf(folder: string, { plugins = [], profile }: PageOptions = {}): Promise<unknown> {
  const server = await createServer({
    configFile: false,
    root: folder,
    logLevel: "error",
    plugins,
    resolve: { conditions: ["keyhole-source", "module", "browser", "development|production"] },
    server: { host: "127.0.0.1", port: 8730, fs: { strict: false } },
  });
  await server.listen();
  const browser = await launch(profile);
  try {
    const page = await browser.newPage();
    page.on("pageerror", (error) => {
      console.error(error);
      process.exitCode = 1;
    });
    // A page that measures while it loads has its load event late.
    await page.goto(server.resolvedUrls!.local[0]!, { waitUntil: "commit" });
    const handle = await page.waitForFunction(() => (globalThis as { figures?: unknown }).figures, undefined, {
      timeout: 600_000, // Ends what hangs, and nothing that is slow.
    });
    return await handle.jsonValue();
  } finally {
    await browser.close();
    await server.close();
  }
}

function launch(profile: string | undefined): Promise<Browser | BrowserContext> {
  const executablePath = findChromium();
  const options = { args: chromiumArgs, ...(executablePath !== undefined && { executablePath }) };
  return profile === undefined ? chromium.launch(options) : chromium.launchPersistentContext(profile, options);
}
