// The audit log in IndexedDB, beside memory in the same page: events a second that are appended, in batches as a kernel makes them and in others,
// and read back and verified. In a profile on the disk: a private one keeps its databases in memory.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright";
import { createServer } from "vite";
import { chromiumArgs, findChromium } from "../../scripts/chromium.mjs";
import { type Figures, report } from "./audit/rows.ts";

const server = await createServer({
  configFile: false,
  root: fileURLToPath(new URL("audit/page", import.meta.url)),
  logLevel: "error",
  resolve: { conditions: ["keyhole-source", "module", "browser", "development|production"] },
  server: { host: "127.0.0.1", port: 8731, fs: { strict: false } },
});
await server.listen();
const profile = await mkdtemp(join(tmpdir(), "keyhole-bench-"));
const executablePath = findChromium();
const browser = await chromium.launchPersistentContext(profile, {
  args: chromiumArgs,
  ...(executablePath === undefined ? {} : { executablePath }),
});
try {
  const page = await browser.newPage();
  page.on("pageerror", (error) => {
    console.error(error);
    process.exitCode = 1;
  });
  await page.goto(server.resolvedUrls!.local[0]!);
  const handle = await page.waitForFunction(() => (globalThis as { figures?: unknown }).figures, undefined, {
    timeout: 600_000, // Ends what hangs, and nothing that is slow.
  });
  report((await handle.jsonValue()) as Record<string, Figures>);
} finally {
  await browser.close();
  await server.close();
  await rm(profile, { recursive: true });
}
