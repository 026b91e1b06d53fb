import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { createProofKey, keyId, proofSigner, publicKeyOf } from "@keyhole/kernel/policy";
import type { Page } from "playwright";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "../../packages/keyhole/src/command/run-command.ts";
import { document as policy, record } from "../policy/recorded.ts";
import { checkpointOf } from "../support/forged-log.ts";
import { ioOf } from "../support/command-files.ts";
import { pageFolder, servePage, type Site, untilBuilt } from "./playground/site.ts";
import { callOf, choose, endOf, field, newContext, noteComplaints, run, Visits } from "./playground/visitor.ts";

const file = join(pageFolder, "verify.html");

let visits: Visits;
let offline: Page;
const heard: string[] = [];
beforeAll(async () => {
  [visits] = await Promise.all([Visits.open(), untilBuilt()]);
  offline = await (await newContext(visits.browser, { offline: true })).newPage();
  noteComplaints(offline, (text) => heard.push(text));
});
afterAll(async () => {
  await offline?.context().close();
  await visits?.close();
});

/** The one file, from the disk: no server, no network. */
async function openPage(test: (page: Page, complaints: readonly string[]) => Promise<void>): Promise<void> {
  heard.length = 0;
  // What the test before left in the page ends with it.
  await offline.goto("about:blank");
  await offline.goto(pathToFileURL(file).href);
  await test(offline, heard);
}

const fill = async (page: Page, member: string, value: unknown): Promise<void> => {
  const area = page.locator(`#${member}`);
  if (!(await area.isVisible())) await page.getByText("What to check it against").click();
  await area.fill(typeof value === "string" ? value : JSON.stringify(value));
};
const verdict = async (page: Page): Promise<string> => {
  await page.getByRole("button", { name: "Verify" }).click();
  const heading = page.locator("#report[data-verdict]").getByRole("heading");
  await heading.waitFor();
  return (await heading.textContent()) ?? "";
};

describe("verify.html", () => {
  it("is one file that asks for no other", async () => {
    const html = await readFile(file, "utf8");
    expect(html).not.toMatch(/<(?:script|link|img)[^>]*(?:src|href)=/);
    expect(html).toContain("default-src 'none'");
    expect(html).not.toContain("connect-src");
  });

  it("checks every level from the disk, offline, and says what it means", () =>
    openPage(async (page, complaints) => {
      const { calls, log, manifest } = await record();
      const { input, result } = calls.denied;
      const key = await createProofKey();
      const { signature: _, ...bare } = result.proof!;
      await fill(page, "proof", await (await proofSigner(key)).sign(bare));
      await fill(page, "keys", publicKeyOf(key));
      expect(await verdict(page)).toBe("Verified");
      await fill(page, "events", log.map((event) => JSON.stringify(event)).join("\n"));
      await fill(page, "policy", policy);
      await fill(page, "tool", { manifest });
      await fill(page, "input", input);
      expect(await verdict(page)).toBe("Intact, but unvouched");
      await page.getByText(`Level 0, signature of key ${await keyId(key)}, passed`).waitFor();
      await page.getByText(/^Level 3, discharge, unvouched: it holds in this log\./).waitFor();
      await fill(page, "checkpoints", await checkpointOf(key, log));
      expect(await verdict(page)).toBe("Verified");
      await page.getByText("The call of subject@1.0.0 was denied: rule eve decided (“Not Eve”).").waitFor();

      await fill(page, "input", { amount: 2 });
      expect(await page.locator("#report").isHidden()).toBe(true);
      expect(await verdict(page)).toBe("Broken");
      await page.getByText(/^Level 2, re-evaluation, failed: inputHash/).waitFor();
      const other = { name: "proof.json", mimeType: "application/json", buffer: Buffer.from("{}") };
      await page.getByLabel("File with the input").setInputFiles(other);
      expect(await page.locator("#report").isHidden()).toBe(true);
      expect(complaints).toEqual([]);
    }));

  it("takes one file with everything, and says what was not checked", () =>
    openPage(async (page) => {
      const { calls, log, manifest } = await record();
      const { input, result } = calls.allowed;
      const key = await createProofKey();
      const { signature: _, ...bare } = result.proof!;
      const proof = await (await proofSigner(key)).sign(bare);
      const checkpoints = [await checkpointOf(key, log)];
      const whole = { proof, keys: [publicKeyOf(key)], events: log, checkpoints, policy, tool: manifest, input };
      await page
        .getByLabel("File with the proof")
        .setInputFiles({ name: "e.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(whole)) });
      await expect.poll(() => page.locator("#proof").inputValue()).toContain("proofId");
      expect(await verdict(page)).toBe("Intact, but unvouched");
      const kid = await keyId(key);
      await page.getByText(`Level 0, signature, skipped: key ${kid} came with the file.`).waitFor();
      await fill(page, "keys", kid);
      expect(await verdict(page)).toBe("Verified");
      await page.getByText(`Key ${kid}, which you trust, signed it.`).waitFor();
      await fill(page, "keys", "");
      await fill(page, "proof", { ...result.proof, tier: 3 });
      expect(await verdict(page)).toBe("Broken");
    }));

  it("says what it cannot read, and puts the cursor there", () =>
    openPage(async (page) => {
      const rows: [string, string, string | RegExp][] = [
        ["proof", "", "Paste a proof, or choose a file with one."],
        ["proof", "{ nonsense", /^This is not JSON/],
        ["keys", '{ "kty": "RSA" }', "A key is a JSON Web Key of kty OKP and crv Ed25519."],
        ["events", "{}\n{", /^Line 2\. This is not JSON/],
      ];
      for (const [member, text, message] of rows) {
        await fill(page, member, text);
        expect(await verdict(page)).toBe("Could not tell");
        await page.getByRole("region", { name: "Report" }).getByText(message).waitFor();
        expect(await page.evaluate(() => document.activeElement?.id)).toBe(member);
        await fill(page, member, member === "proof" ? {} : "");
      }
    }));

  it("makes no markup of a proof, and lets it reach nothing", () =>
    openPage(async (page, complaints) => {
      const { calls } = await record();
      const evil = '<img src=x onerror="globalThis.broken = 1">\u202e';
      await fill(page, "proof", { ...calls.allowed.result.proof, tool: evil, reasonCode: evil });
      await verdict(page);
      expect(await page.locator("#report img").count()).toBe(0);
      expect(await page.evaluate(() => "broken" in globalThis)).toBe(false);
      expect(complaints).toEqual([]);
      const reached = page.evaluate(() =>
        fetch("https://example.com/").then(
          () => "reached",
          () => "refused",
        ),
      );
      expect(await reached).toBe("refused");
      expect(complaints.join(" ")).toMatch(/Content Security Policy/);
    }));
});

describe("the evidence that the playground saves", () => {
  let site: Site;
  beforeAll(async () => {
    site = await servePage();
  });
  afterAll(() => site.close());

  it("holds for verify.html and for the command, without the kernel", async () => {
    const visitor = await visits.visit(site.origin);
    const { page } = visitor;
    await choose(page, "calculator");
    await field(page, "expression").fill("2 * 21");
    await run(page);
    expect(await endOf(page)).toBe("Completed");
    await callOf(page).getByRole("tab", { name: "Proof" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save evidence" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^keyhole-evidence-[0-9a-f-]{36}\.json$/);
    const text = String(await buffer(await download.createReadStream()));
    await visitor.leave();

    await openPage(async (verifier) => {
      await fill(verifier, "proof", text);
      expect(await verdict(verifier)).toBe("Intact, but unvouched");
    });
    const { exitCode, output } = await runCommand(["verify", "evidence"], ioOf({ evidence: text }));
    expect(output).toContain("✓ level 2  re-evaluation");
    expect(output).toContain("~ level 3  discharge");
    expect(output).toMatch(/^Intact, but unvouched: the proof has no signature\.$/m);
    expect(exitCode).toBe(3);
  });
});
