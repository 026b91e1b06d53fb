import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { blake3Hash, createKernel, normalize } from "@keyhole/kernel";
import { idnEmail } from "../../packages/kernel/src/schema/formats/hosts.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkKey } from "../../packages/kernel/src/capability/matching/kv-keys.ts";
import { checkPath, pathMatcher } from "../../packages/kernel/src/capability/matching/paths.ts";
import { toForm } from "../../packages/kernel/src/support/unicode.ts";
import { toolOf } from "../support/kernel.ts";
import { sized } from "../support/size.ts";
import { root } from "../support/sources.ts";

/** Marks of classes 1, 7, 8, 9, 103, 129, 130, 202, 216, 220, 226, 230, 232, 233, 234, 240 and 0, of which some are made of others, and letters. */
const units =
  "\u0334\u093c\u3099\u094d\u0e38\u0f71\u0f72\u0f73\u0f75\u0f81\u0321\u031b\u0316\u302a\u0301\u0300\u0344\u0315\u035c\u035d\u0345\u034f\u0903\u200d\uff9e\uff9fae\u00e9\u01d5\u1112\u1161\ufdfa\u0390";
const letters = [...units].map((unit) => fc.constant(unit));

/** Marks in the worst order: sorted by insertion, 180,000 take half a minute, and 900,000 more than ten. */
const worst = `a${"\u0301\u0316\u0334".repeat(sized(60_000, 300_000))}`;

describe("a text in a normal form", () => {
  it("is the engine's own, however many marks stand in a row", () => {
    const text = fc.array(fc.oneof(...letters, fc.string({ unit: "binary", maxLength: 2 })), {
      maxLength: 200,
      size: "max",
    });
    fc.assert(
      fc.property(text, fc.constantFrom("NFC", "NFKC"), (parts, form) => {
        expect(toForm(form, parts.join(""))).toBe(parts.join("").normalize(form));
      }),
      { numRuns: sized(20, 20_000) },
    );
  });

  it("every mark is put where the engine puts it", () => {
    const all = Array.from({ length: 0x110000 }, (_, code) => code)
      .filter((code) => code < 0xd800 || code > 0xdfff)
      .map((code) => String.fromCodePoint(code))
      .filter((mark) => /\p{M}/u.test(mark));
    const rows = Array.from({ length: Math.ceil(all.length / 40) }, (_, row) => all.slice(row * 40, row * 40 + 40));
    for (const row of rows)
      for (const text of [`a${row.join("")}`, `a${row.toReversed().join("")}`, `\u0345${row.join("\u0345\u0334")}`])
        for (const form of ["NFC", "NFKC"] as const) expect(toForm(form, text)).toBe(text.normalize(form));
  });

  it("no other source asks the engine for one, but for short texts and single characters", () => {
    const sources = globSync("packages/*/src/**/*.ts", { cwd: root });
    const asks = sources.filter((path) => /\.normalize\((?:"NF|\))/.test(readFileSync(join(root, path), "utf8")));
    expect(asks.toSorted()).toEqual([
      "packages/kernel/src/schema/formats/hosts.ts",
      "packages/kernel/src/schema/idna.ts",
      "packages/kernel/src/support/unicode.ts",
      "packages/worker-host/src/http/url.ts",
    ]);
  });

  it("takes time that grows with the text", async () => {
    expect(normalize("text", worst, blake3Hash)).toMatchObject({ ok: true });
    expect(toForm("NFKC", worst)).toHaveLength(worst.length - 1);
    expect(checkPath(worst)).toMatch(/bytes/);
    expect(checkKey(worst)).toMatch(/bytes/);
    expect(pathMatcher(["b*"], "deny")(worst)).toBe(false);
    expect(idnEmail(`a@${worst}`)).toBe(false);
    const kernel = await createKernel();
    kernel.registerTrusted(toolOf(() => worst, { output: { kind: "text" }, bounds: { outputBytes: 8 << 20 } }));
    expect(await kernel.call("subject", {})).toMatchObject({ ok: true });
  });
});
