import { readFileSync } from "node:fs";
import { errorCodes, type NormalizeReason, setupErrorCodes } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { callPage, errorPagePath, setupPage } from "../support/error-pages.ts";
import { errorsReadme } from "../support/error-table.ts";
import { root } from "../support/sources.ts";
import { readPage, section, table } from "./markdown.ts";

const pages = new Map(
  [...errorCodes, ...setupErrorCodes].map((code) => [code as string, readPage(`docs/errors/${code}.md`)]),
);

describe("every page", () => {
  it.each([...pages])("%s says what it is and when it happens, and shows examples", (code, page) => {
    expect(page.headings.map(({ text }) => text)).toEqual([code, "When it happens", "Examples"]);
    expect(section(page, "When it happens")!.join("").trim()).not.toBe("");
    expect(page.prose.slice(1).find((line) => line !== "")).toMatch(/^[A-Z].*\.$/);
  });

  it.each(errorCodes)("%s has the facts and errors of real calls: else run npm run write:messages", async (code) => {
    expect(readFileSync(root + errorPagePath(code), "utf8")).toBe(await callPage(code));
  });

  it.each(setupErrorCodes)("%s has the error of a real kernel: else run npm run write:messages", async (code) => {
    expect(readFileSync(root + errorPagePath(code), "utf8")).toBe(await setupPage(code));
  });
});

it("the table of all codes is what npm run write:messages writes", () => {
  expect(readFileSync(`${root}docs/errors/README.md`, "utf8")).toBe(errorsReadme());
});

it("every reason why an output has no normal form is explained", () => {
  const reasons = {
    accessor: true, bigint: true, "breaks-contract": true, cycle: true, detached: true, function: true, "lone-surrogate": true, "normalizer-threw": true, "normalizer-varies": true, "not-a-stream": true, "not-bytes": true, "not-finite": true, "not-plain": true, "not-text": true,
    "proto-key": true, symbol: true, syntax: true, "too-deep": true, "too-large": true, undefined: true, unreadable: true,
  } satisfies Record<NormalizeReason, true>; // prettier-ignore
  const explained = table(pages.get("NOT_NORMALIZABLE")!.prose, "`reason`", "Cause").flatMap(([cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );
  expect(explained.toSorted()).toEqual(Object.keys(reasons).toSorted());
});
