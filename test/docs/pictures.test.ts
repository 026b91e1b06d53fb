import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { pictures } from "../../scripts/pictures/pictures.mjs";
import { root } from "../support/sources.ts";
import { readPages } from "./markdown.ts";

const folder = join(root, "docs", "pictures");

describe("pictures of the docs", () => {
  it("are what `npm run write:pictures` writes", () => {
    expect(
      readdirSync(folder)
        .filter((name) => name.endsWith(".svg"))
        .sort(),
    ).toEqual(
      Object.keys(pictures)
        .map((name) => `${name}.svg`)
        .sort(),
    );
    for (const [name, svg] of Object.entries(pictures)) {
      expect(readFileSync(join(folder, `${name}.svg`), "utf8"), name).toBe(svg);
    }
  });

  it("each stand on a page, with a text for readers who cannot see them", () => {
    const links = readPages().flatMap((page) => page.links);
    for (const [name, svg] of Object.entries(pictures)) {
      expect(links.find(({ target }) => target.endsWith(`pictures/${name}.svg`))?.text.length, name).toBeGreaterThan(
        20,
      );
      expect(svg).toMatch(/<title id="t">[^<]+<\/title><desc id="d">[^<]+<\/desc>/);
    }
  });

  it("follow the theme of their reader", () => {
    for (const svg of Object.values(pictures)) {
      expect(svg).toContain("@media (prefers-color-scheme:dark)");
      expect(svg.replace(/<style>.*<\/style>/, "")).not.toMatch(/#[0-9a-f]{3,8}/i);
    }
  });
});
