import { hashBytes } from "@keyhole/kernel";
import { beforeEach, describe, expect, it } from "vitest";
import { serve, type Site } from "./playground/site.ts";
import { giveFile, picture, save } from "./playground/files.ts";
import {
  applyPolicy,
  callOf,
  choose,
  endOf,
  eventsOf,
  field,
  jsonOf,
  leavePolicy,
  openPolicy,
  resultOf,
  run,
  writePolicy,
} from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";
import { thorough } from "../support/size.ts";

const visiting = new Visiting();

beforeEach(visiting.again);

describe("a tool with examples of its input", () => {
  it("fills its form in with them, in the form and as JSON", async () => {
    const { page } = visiting.visitor;
    await choose(page, "run_code");
    await page.getByRole("button", { name: "Fill in an example" }).click();
    await run(page);
    expect(await endOf(page)).toBe("Completed");
    expect(await resultOf(page)).toContain("the calculator says");

    await choose(page, "primes");
    await page.getByRole("button", { name: "Fill in an example" }).click();
    await expect.poll(() => field(page, "limit").inputValue()).toBe("1000000");
    await run(page);
    expect(await endOf(page)).toBe("Completed");
    const json = await jsonOf(page);
    await page.getByRole("button", { name: "Another example" }).click();
    await expect.poll(async () => JSON.parse(await json.inputValue())).toEqual({ limit: 10_000_000 });

    await choose(page, "spin");
    expect(await page.getByRole("button", { name: /example/ }).count()).toBe(0);
  });
});

if (thorough) {
  describe("a call on a phone", () => {
    it("shows how it ended, below a header of one line or two", async () => {
      const { page } = visiting.visitor;
      visiting.visits.spend();
      const gap = (): Promise<number> =>
        page.evaluate(
          () =>
            document.querySelector(".run-head")!.getBoundingClientRect().top -
            document.querySelector(".top")!.getBoundingClientRect().bottom,
        );
      await choose(page, "calculator");
      for (const width of [320, 390]) {
        await page.setViewportSize({ width, height: 400 });
        await page.getByRole("button", { name: /example/ }).click();
        await run(page);
        expect(await endOf(page)).toBe("Completed");
        await expect.poll(gap, { message: `at ${width} pixels` }).toBeGreaterThanOrEqual(0);
        await expect.poll(gap, { message: `at ${width} pixels` }).toBeLessThan(60);
      }
    });
  });
}

if (thorough) {
  if (thorough) {
    it("a value of several forms is asked for by the name of each form", async () => {
      const { page } = visiting.visitor;
      visiting.visits.spend();
      await choose(page, "sql_query");
      await page.getByRole("button", { name: "Add to params" }).click();
      const kinds = page.getByRole("combobox", { name: /params 1: kind/ }).getByRole("option");
      expect(await kinds.allTextContents()).toEqual(["null", "boolean", "number", "string", "object"]);
    });
  }
}

if (thorough) {
  describe("the list of tools", () => {
    it("stays where it was scrolled to when a tool is pressed in the same frame", async () => {
      const { page } = visiting.visitor;
      visiting.visits.spend();
      await page.setViewportSize({ width: 1280, height: 480 });
      await choose(page, "calculator");
      const places = await page.locator(".tool-scroll").evaluate((list) => {
        list.scrollTop = list.scrollHeight;
        const before = list.scrollTop;
        const last = [...list.querySelectorAll<HTMLElement>("[role=option]")].at(-1)!;
        last.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, pointerType: "mouse", pointerId: 1 }));
        last.focus({ preventScroll: true });
        return { before, after: list.scrollTop };
      });
      expect(places.before).toBeGreaterThan(0);
      expect(places.after).toBe(places.before);
    });
  });
}

describe("a tool that works on a file", () => {
  it("asks for one, and runs on nothing else", async () => {
    await visiting.open();
    const { page } = visiting.visitor;
    await choose(page, "hash_file");
    await run(page);
    await page.getByText("This tool works on a file. Choose one.").waitFor();
    expect(await callOf(page).textContent()).toContain("Nothing has run yet");
  });

  if (thorough) {
    it("gets its bytes, and the log has their digest", async () => {
      const { page } = visiting.visitor;
      await choose(page, "hash_file");
      await giveFile(page);
      await page.getByText("picture.bin, 2.9 MiB").waitFor();
      await run(page);
      expect(await endOf(page)).toBe("Completed");
      expect(await resultOf(page)).toContain(hashBytes(picture));
      expect(await eventsOf(page)).toContain("body.read");
      await callOf(page).getByText("3000000 B of the body, all of it").waitFor();
    });
  }

  if (thorough) {
    it("asks for one call only: nobody sees the bytes", async () => {
      const { page } = visiting.visitor;
      visiting.visits.spend();
      await applyPolicy(page, () =>
        writePolicy(
          page,
          JSON.stringify({
            version: "1",
            posture: "standard",
            rules: [{ id: "ask", effect: "ask", when: {}, reason: "Asked." }],
          }),
        ),
      );
      await choose(page, "hash_file");
      await giveFile(page);
      await run(page);
      const dialog = page.getByRole("alertdialog");
      await dialog.getByText("Bytes come with this call that cannot be shown here.").waitFor();
      expect(
        await dialog
          .getByRole("radiogroup")
          .getByRole("radio")
          .evaluateAll((all) => all.map((each) => each.ariaLabel)),
      ).toEqual(["As shown", "Edited"]);
      expect(await dialog.getByRole("button", { name: /^Allow/ }).allTextContents()).toEqual(["Allow once"]);
      await dialog.getByRole("button", { name: "Allow once" }).click();
      expect(await endOf(page)).toBe("Completed");
    });
  }

  if (thorough) {
    it("gives a stream as a file to save", async () => {
      const { page } = visiting.visitor;
      await choose(page, "base64_file");
      await giveFile(page);
      await run(page);
      expect(await endOf(page)).toBe("Completed");
      const expected = picture.toString("base64").replace(/.{1,76}/g, "$&\n");
      await callOf(page).getByText("A stream of 3.9 MiB, text/plain").waitFor();
      await callOf(page)
        .getByText(hashBytes(new TextEncoder().encode(expected)))
        .waitFor();
      expect((await save(page, "base64_file.txt")).toString("latin1")).toBe(expected);
    });
  }
});

if (thorough) {
  describe("web_search", () => {
    /** Answers as SearXNG does. */
    const engine = (): Promise<Site> =>
      serve((request, response) => {
        const asked = new URL(request.url ?? "/", "http://localhost").searchParams;
        const results = [{ title: `About ${asked.get("q")}`, url: "https://example.org/", content: "An excerpt." }];
        const headers = { "content-type": "application/json", "access-control-allow-origin": "*" };
        response.writeHead(200, headers).end(JSON.stringify({ results, answers: [] }));
      });

    const policy = async (): Promise<string> => {
      const { page } = visiting.visitor;
      await openPolicy(page);
      await page.getByRole("radio", { name: "Openings" }).click();
      const text = await page.getByRole("table", { name: "Grants" }).innerText();
      await leavePolicy(page);
      return text;
    };

    it("is not there without a search engine, and the page says so", async () => {
      await visiting.open();
      const { page } = visiting.visitor;
      await page.getByText("web_search is not here: no search engine is set up.").waitFor();
      expect(await page.getByRole("option", { name: /^web_search\b/ }).count()).toBe(0);
      await page.getByRole("button", { name: "Set up web search" }).click();
      await field(page, "Address of the search").fill("search.example.org");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText(/^This is not the address of a search/).waitFor();
    });

    it("asks the engine that was set up, and no other host", async () => {
      const { page } = visiting.visitor;
      visiting.visits.spend();
      const search = await engine();
      try {
        await page.getByRole("button", { name: "Set up web search" }).click();
        await field(page, "Address of the search").fill(`${search.origin}/search`);
        await page.getByRole("button", { name: "Save" }).click();
        await page.getByText(`web_search asks ${new URL(search.origin).host}.`).waitFor();
        await choose(page, "web_search");
        await field(page, "query").fill("keyholes");
        await run(page);
        expect(await endOf(page)).toBe("Completed");
        expect(await resultOf(page)).toContain("About keyholes");
        expect(search.requests).toEqual(["GET /search"]);
        expect(await policy()).toContain("web_search");
        await page.reload();
        await choose(page, "web_search");

        await page.getByRole("button", { name: "Change web search" }).click();
        await page.getByRole("button", { name: "Remove the tool" }).click();
        await page.getByText("web_search is not here: no search engine is set up.").waitFor();
        expect(await policy()).not.toContain("web_search");
      } finally {
        await search.close();
      }
    });
  });
}
