import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { serve, servePage, type Site } from "./playground/site.ts";
import {
  allowHost,
  callOf,
  choose,
  endOf,
  eventsOf,
  field,
  hashOf,
  leavePolicy,
  openPolicy,
  resultOf,
  run,
  setPolicyControl,
  type Visitor,
  Visits,
  tabOf,
} from "./playground/visitor.ts";
import { thorough } from "../support/size.ts";

let site: Site;
let web: Site;
let visits: Visits;
let visitor: Visitor;

beforeAll(async () => {
  [site, visits] = await Promise.all([servePage(), Visits.open()]);
  web = await serve((_request, response) =>
    response
      .writeHead(200, { "content-type": "text/plain", "access-control-allow-origin": "*" })
      .end("a page of the web"),
  );
});

afterAll(async () => {
  await visits.close();
  await Promise.all([site.close(), web.close()]);
});

beforeEach(async () => {
  visitor = await visits.again(site.origin);
});

afterEach(() => visitor.leave());

describe("a call", () => {
  it("shows its result, hash, proof and events", async () => {
    const { page } = visitor;
    await choose(page, "echo");
    await field(page, "message").fill("hello, keyhole");
    await run(page);

    expect(await endOf(page)).toBe("Completed");
    const call = callOf(page);
    expect(await resultOf(page)).toContain('"message": "hello, keyhole"');
    expect(await hashOf(page)).toMatch(/^blake3:[0-9a-f]{64}$/);
    expect(await eventsOf(page)).toEqual([
      "call.invoked",
      "capability.checked",
      "policy.decided",
      "tool.started",
      "tool.completed",
    ]);

    await call.getByRole("tab", { name: "Proof" }).click();
    await call.getByText("allow", { exact: true }).waitFor();
    await call.getByRole("button", { name: "Verify in this page" }).click();
    await call.getByText("Intact, but unvouched: the hash matches, and the log has the same proof.").waitFor();
  });

  if (thorough) {
    it("reads a database that a worker of the page holds, and keeps a value", async () => {
      const { page } = visitor;
      await choose(page, "sql_query");
      await field(page, "sql").fill("SELECT name, moons FROM planets WHERE moons > 90 ORDER BY moons");
      await run(page);
      expect(await endOf(page)).toBe("Completed");
      const result = await resultOf(page);
      expect(result).toContain("Jupiter");
      expect(result).toContain("146");

      await choose(page, "kv_get");
      await field(page, "key").fill("workspace/none");
      await run(page);
      expect(await endOf(page)).toBe("Completed");
      expect(await resultOf(page)).toContain('"found": false');
    });
  }

  it("fetches a page once its host is granted, and no other", async () => {
    const { page } = visitor;
    await choose(page, "http_fetch");
    await field(page, "url").fill(`${web.origin}/page`);
    await run(page);
    expect(await endOf(page)).toBe("Refused");
    await callOf(page)
      .getByText(/needs net\.read, which is not granted/)
      .first()
      .waitFor();
    expect(web.requests).toEqual([]);

    visits.spend();
    await allowHost(page, web.origin);
    await run(page);
    expect(await endOf(page)).toBe("Completed");
    expect(await resultOf(page)).toContain("a page of the web");
    expect(await eventsOf(page)).toEqual([
      "call.invoked",
      "capability.checked",
      "policy.decided",
      "tool.started",
      "capability.used",
      "tool.completed",
    ]);
    expect(web.requests).toEqual(["GET /page"]);

    await field(page, "url").fill(`${web.origin.replace("127.0.0.1", "127.0.0.2")}/page`);
    await run(page);
    await callOf(page).getByText("CAPABILITY_DENIED", { exact: true }).first().waitFor();
    await callOf(page)
      .getByText(/127\.0\.0\.2/)
      .first()
      .waitFor();
    expect(await eventsOf(page)).toEqual([
      "call.invoked",
      "capability.checked",
      "policy.decided", // The tool names its argument `url` as the target.
      "tool.blocked",
    ]);
    expect(web.requests).toEqual(["GET /page"]);
  });

  if (thorough) {
    it("stops a tool that spins, and the next call works", async () => {
      const { page } = visitor;
      await choose(page, "spin");
      await run(page);
      expect(await endOf(page)).toBe("Failed");
      await callOf(page).getByText("TIMEOUT", { exact: true }).first().waitFor();
      expect(await eventsOf(page)).toEqual([
        "call.invoked",
        "capability.checked",
        "policy.decided",
        "tool.started",
        "tool.failed",
      ]);

      await choose(page, "echo");
      await field(page, "message").fill("still here");
      await run(page);
      expect(await endOf(page)).toBe("Completed");
    });
  }

  it("runs a program in C under fuel, says what it cost, and stops it at its bound", async () => {
    const { page } = visitor;
    await choose(page, "primes");
    await field(page, "limit").fill("1000000");
    await run(page);
    expect(await endOf(page)).toBe("Completed");
    expect(await resultOf(page)).toContain("78498");
    // As on Node: test/wasm/primes.shared.ts.
    await callOf(page)
      .getByText(/^47,239,364 fuel/)
      .waitFor();

    await field(page, "limit").fill("10000000");
    await run(page);
    expect(await endOf(page)).toBe("Failed");
    await callOf(page).getByText("OUT_OF_FUEL", { exact: true }).first().waitFor();
    await callOf(page)
      .getByText(/100,000,000 fuel/)
      .first()
      .waitFor();
  });

  it("is cancelled while it spins, with its progress in sight, and its log afterwards", async () => {
    const { page } = visitor;
    await choose(page, "spin");
    await run(page);
    await callOf(page).getByText("Spinning", { exact: true }).waitFor();
    // At once: it has a deadline.
    await page.getByRole("button", { name: "Cancel" }).click();
    expect(await endOf(page)).toBe("Cancelled");
    await callOf(page).getByRole("tab", { name: "Logs 1" }).click();
    await callOf(page).getByText("Spinning. I will not hear you.").waitFor();
    await tabOf(page, "Result").click();
    await callOf(page).getByText("CANCELLED", { exact: true }).first().waitFor();
    expect((await eventsOf(page)).at(-1)).toBe("tool.failed");
  });

  if (thorough) {
    it("keeps files between calls, below the granted folder alone", async () => {
      const { page } = visitor;
      visits.spend();
      await setPolicyControl(page, () => page.getByRole("radio", { name: "Permissive" }).click());
      await choose(page, "write_file");
      await field(page, "path").fill("workspace/plan.txt");
      await field(page, "content").fill("one\ntwo");
      await run(page);
      expect(await endOf(page)).toBe("Completed");

      await choose(page, "read_file");
      await field(page, "path").fill("workspace/plan.txt");
      await run(page);
      expect(await endOf(page)).toBe("Completed");
      expect(await resultOf(page)).toContain("one\\ntwo");

      await field(page, "path").fill("elsewhere/plan.txt");
      await run(page);
      await callOf(page).getByText("CAPABILITY_DENIED", { exact: true }).first().waitFor();
    });
  }
});

describe("an approval", () => {
  const ask = async (line: string) => {
    const { page } = visitor;
    await field(page, "note").fill("journal");
    await field(page, "line").fill(line);
    await run(page);
    return page.getByRole("alertdialog");
  };

  it("shows the exact arguments, and runs the tool once it is allowed", async () => {
    const { page } = visitor;
    await choose(page, "append_note");
    const dialog = await ask("first \u202e line");
    // A character that would reorder what is beside it is shown by its number.
    await dialog.getByText('"first \\u202e line"').waitFor();
    await dialog.getByText("Tier 2, elevated").waitFor();
    await dialog.getByText(/^fs\.write /).waitFor();
    await dialog.getByText("✓ recomputed").waitFor();
    expect(await dialog.locator(".hash-chip").getAttribute("title")).toMatch(/^blake3:[0-9a-f]{64}$/);
    await dialog.getByText(/^Expires in [12]:\d\d$/).waitFor();
    await callOf(page).getByText("Waiting for approval", { exact: true }).waitFor({ state: "attached" });

    await dialog.getByRole("button", { name: "Allow once" }).click();
    expect(await endOf(page)).toBe("Completed");
    expect(await eventsOf(page)).toContain("approval.resolved");
    await callOf(page).getByRole("tab", { name: "Proof" }).click();
    await callOf(page).getByText("once, by playground").waitFor();
  });

  if (thorough) {
    it("once is once; for the session is for the same arguments again", async () => {
      // The note holds what this test writes, and nothing else.
      visitor = await visits.visit(site.origin);
      const { page } = visitor;
      await choose(page, "append_note");
      await (await ask("again")).getByRole("button", { name: "Allow once" }).click();
      expect(await endOf(page)).toBe("Completed");
      await (await ask("again")).getByRole("button", { name: "Allow for this session" }).click();
      await callOf(page)
        .getByText(/^again\s+again\s*$/)
        .waitFor();

      await run(page);
      await callOf(page)
        .getByText(/^again\s+again\s+again\s*$/)
        .waitFor();
      expect(await page.getByRole("alertdialog").count()).toBe(0);

      await (await ask("something else")).getByRole("button", { name: "Deny" }).click();
      expect(await endOf(page)).toBe("Refused");
    });
  }

  if (thorough) {
    it("for a pattern is shown as its rule, answers what fits, and can be taken back", async () => {
      const { page } = visitor;
      await choose(page, "append_note");
      const dialog = await ask("one");
      await dialog.getByRole("radio", { name: "A pattern" }).click();
      await dialog.getByRole("combobox", { name: /^line/ }).selectOption("Any value");
      await dialog.getByText('"/note"').waitFor();
      await dialog.getByRole("button", { name: "Allow what fits" }).click();
      expect(await endOf(page)).toBe("Completed");

      await field(page, "line").fill("quite another line");
      await run(page);
      await callOf(page)
        .getByText(/quite another line/)
        .first()
        .waitFor();
      expect(await page.getByRole("alertdialog").count()).toBe(0);

      await openPolicy(page);
      await page.getByRole("radio", { name: "Standing approvals" }).click();
      const standing = page.getByRole("region", { name: "Standing approvals" });
      await standing.getByText("append_note@1.0.0", { exact: true }).first().waitFor();
      for (let left = await standing.getByRole("button", { name: "Revoke" }).count(); left > 0; left--) {
        await standing.getByRole("button", { name: "Revoke" }).first().click();
        await expect.poll(() => standing.getByRole("button", { name: "Revoke" }).count()).toBe(left - 1);
      }
      await leavePolicy(page);
      await (await ask("asked again")).getByRole("button", { name: "Deny" }).click();
      expect(await endOf(page)).toBe("Refused");
    });
  }

  if (thorough) {
    it("with other arguments starts the call again, and asks for those", async () => {
      const { page } = visitor;
      await choose(page, "append_note");
      const dialog = await ask("as asked");
      await dialog.getByRole("radio", { name: "Edited" }).click();
      const json = dialog.getByRole("textbox", { name: "Other arguments, as JSON" });
      await json.fill("{ not json");
      await dialog.getByText(/^This is not JSON/).waitFor();
      await json.fill('{ "note": "journal", "line": "as a person wants it" }');
      await dialog.getByRole("button", { name: "Start again with these" }).click();
      const again = page.getByRole("alertdialog");
      await again.getByText('"as a person wants it"').first().waitFor();
      await again.getByRole("button", { name: "Allow once" }).click();
      expect(await endOf(page)).toBe("Completed");
      await callOf(page)
        .getByText(/as a person wants it/)
        .first()
        .waitFor();
    });
  }

  it("is denied with a reason, or by Escape, and nothing runs", async () => {
    const { page } = visitor;
    await choose(page, "append_note");
    const dialog = await ask("no");
    await dialog.getByRole("textbox", { name: /^Reason for denying/ }).fill("not today");
    await dialog.getByRole("button", { name: "Deny" }).click();
    expect(await endOf(page)).toBe("Refused");
    await callOf(page).getByText("APPROVAL_DENIED", { exact: true }).first().waitFor();
    await callOf(page)
      .getByText(/not today/)
      .first()
      .waitFor();
    expect(await eventsOf(page)).not.toContain("tool.started");

    await (await ask("no")).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    expect(await endOf(page)).toBe("Refused");
    expect(await eventsOf(page)).not.toContain("tool.started");
  });
});
