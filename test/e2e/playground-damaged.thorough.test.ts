import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, chromium, type Page } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumArgs, findChromium } from "../../scripts/chromium.mjs";
import { servePage, type Site } from "./playground/site.ts";
import { choose, endOf, field, run } from "./playground/visitor.ts";

let site: Site;

beforeAll(async () => {
  site = await servePage();
});

afterAll(() => site.close());

function start(profile: string): Promise<BrowserContext> {
  const executablePath = findChromium();
  return chromium.launchPersistentContext(profile, {
    args: [...chromiumArgs],
    ...(executablePath !== undefined && { executablePath }),
  });
}

async function visit(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto(site.origin);
  await page.getByText("Ready", { exact: true }).waitFor({ state: "attached" });
  return page;
}

async function echo(page: Page, message: string): Promise<void> {
  await choose(page, "echo");
  await field(page, "message").fill(message);
  await run(page);
  expect(await endOf(page)).toBe("Completed");
}

const logOf = (page: Page) => page.getByRole("region", { name: "Log of calls" });

type Damage = (folder: string, names: readonly string[]) => Promise<void>;

async function each(folder: string, names: readonly string[], change: (path: string) => Promise<void>): Promise<void> {
  for (const name of names) await change(join(folder, name));
}

/** What a full disk, a crash or a bad sector leaves of the files of LevelDB. */
const damages: readonly (readonly [string, Damage])[] = [
  [
    "bits of every table and log are flipped",
    async (folder, names) =>
      each(
        folder,
        names.filter((name) => /\.(?:log|ldb)$/.test(name)),
        async (path) => {
          const content = await readFile(path);
          for (let at = 7; at < content.length; at += 97) content[at] = (content[at] ?? 0) ^ 0x55;
          await writeFile(path, content);
        },
      ),
  ],
  [
    "every file is cut in half",
    async (folder, names) =>
      each(folder, names, async (path) => truncate(path, Math.floor((await readFile(path)).length / 2))),
  ],
  ["every file is empty", async (folder, names) => each(folder, names, (path) => truncate(path, 0))],
  [
    "the manifest is gone",
    async (folder, names) =>
      each(
        folder,
        names.filter((name) => name.startsWith("MANIFEST")),
        (path) => rm(path),
      ),
  ],
  ["the pointer to the manifest is gone", async (folder) => rm(join(folder, "CURRENT"))],
];

describe("a profile whose IndexedDB is damaged on the disk", () => {
  it.each(damages)("starts, says that calls are lost, and goes on, where %s", async (_, damage) => {
    const profile = await mkdtemp(join(tmpdir(), "keyhole-profile-"));
    try {
      const before = await start(profile);
      const page = await visit(before);
      for (const message of ["one", "two"]) await echo(page, message);
      await page.reload();
      await logOf(page).getByRole("row", { name: /two/ }).waitFor();
      await before.close();

      const folder = join(
        profile,
        "Default",
        "IndexedDB",
        `${new URL(site.origin).origin.replace("://", "_").replace(":", "_")}.indexeddb.leveldb`,
      );
      const names = (await readdir(folder)).filter((name) => name !== "LOCK");
      expect(names.some((name) => name.startsWith("MANIFEST"))).toBe(true);
      await damage(folder, names);

      const after = await start(profile);
      const other = await visit(after);
      await echo(other, "three");
      await logOf(other).getByRole("row", { name: /three/ }).waitFor();
      const earlier = logOf(other).getByRole("row", { name: /echo (?:one|two)/ });
      const rows = await earlier.count();
      // The browser repairs the database, or begins an empty one.
      expect([0, 2]).toContain(rows);
      const notice = other.locator(".banners").getByText(/The saved calls of this browser are gone|Not saved: 1 call/);
      if (rows === 0) await notice.waitFor();
      const words = (await other.locator(".banners").innerText()).replaceAll("\n", " ");
      process.stdout.write(`${rows} of 2 calls are there. The page says: ${words || "nothing"}\n`);
      if (words.includes("Not saved")) {
        // The browser can neither open nor replace it: calls stay in the tab, and the page continues to say so.
        await echo(other, "four");
        await other.getByText("Not saved: 2 calls").waitFor();
      } else {
        await other.reload();
        await logOf(other).getByRole("row", { name: /three/ }).waitFor();
      }
      await after.close();
    } finally {
      // Processes of the browser outlive it by a moment.
      await rm(profile, { recursive: true, force: true, maxRetries: 20 });
    }
  });
});
