import { readFileSync } from "node:fs";
import {
  type ErrorCode,
  errorCodes,
  type NormalizeReason,
  type SetupErrorCode,
  setupErrorCodes,
} from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { callProblems } from "../../packages/edge/src/app/problem.ts";
import { errorsReadme } from "../support/error-table.ts";
import { root } from "../support/sources.ts";
import { type Page, readPage, section, table } from "./markdown.ts";
import type { Scenario } from "./scenario.ts";
import { play, scenarios } from "./scenarios.ts";
import { setupScenarios } from "./setup-scenarios.ts";

const index = readPage("docs/errors/README.md");
const pages = new Map(
  [...errorCodes, ...setupErrorCodes].map((code) => [code as string, readPage(`docs/errors/${code}.md`)]),
);
const pageOf = (code: ErrorCode | SetupErrorCode): Page => pages.get(code)!;

interface Facts {
  readonly meaning: string;
  readonly retryable: string;
  readonly terminal: readonly string[];
  readonly status: string;
}

function factsOf(page: Page): Facts {
  const [[retryable = "", terminal = "", status = ""] = []] = table(
    page.prose,
    "Retryable",
    "Terminal event",
    "HTTP status",
  );
  const meaning = page.prose.slice(1).find((line) => line !== "") ?? "";
  return { meaning, retryable: firstWord(retryable), terminal: eventsIn(terminal), status: firstWord(status) };
}

const firstWord = (cell: string): string => /^\w*/.exec(cell)![0];
const eventsIn = (cell: string): readonly string[] => [...cell.matchAll(/tool\.\w+/g)].map(([name]) => name).toSorted();

/** The examples on a page: what one call's `details` look like. */
function examples(page: Page): readonly unknown[] {
  const details = page.headings.find(({ text }) => text === "Details")!;
  return page.blocks
    .filter(({ info, line }) => info === "json" && line > details.line)
    .map(({ text }) => JSON.parse(text) as unknown);
}

/** As text, without the ids, which are new with every call. */
function distinct(values: readonly unknown[]): readonly string[] {
  return [
    ...new Set(
      values.map((value) =>
        JSON.stringify(value, null, 2).replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, "ID"),
      ),
    ),
  ];
}

describe("every page", () => {
  it.each([...pages])("%s says what it is, when it happens, what comes with it and what to do", (code, page) => {
    expect(page.headings.map(({ text }) => text)).toEqual([code, "When it happens", "Details", "Next steps"]);
    for (const title of ["When it happens", "Details", "Next steps"])
      expect(section(page, title)!.join("").trim()).not.toBe("");
    const steps = section(page, "Next steps")!.filter((line) => line !== "");
    for (const step of steps) expect(step).toMatch(/^- \*\*(?:Caller|Tool author|Operator)\*\*: /);
    expect(factsOf(page).meaning).toMatch(/^[A-Z].*\.$/);
  });
});

describe("the table", () => {
  const rows = table(index.prose, "Code", "Meaning", "Retryable", "Terminal event", "HTTP");
  const setupRows = table(index.prose, "Code", "Meaning");
  const link = (code: string): string => `[${code}](${code}.md)`;

  it("is what npm run write:messages writes", () => {
    expect(readFileSync(`${root}docs/errors/README.md`, "utf8")).toBe(errorsReadme());
  });

  it("has a row per code, in their order", () => {
    expect(rows.map(([code]) => code)).toEqual(errorCodes.map(link));
    expect(setupRows.map(([code]) => code)).toEqual(setupErrorCodes.map(link));
  });

  it.each(errorCodes)("says of %s what its page says", (code) => {
    const [, meaning, retryable, terminal = "", status] = rows[errorCodes.indexOf(code)]!;
    expect({ meaning, retryable, terminal: eventsIn(terminal), status }).toEqual(factsOf(pageOf(code)));
  });

  it.each(setupErrorCodes)("says of %s what its page says", (code) => {
    const { meaning, terminal, status } = factsOf(pageOf(code));
    expect([setupRows[setupErrorCodes.indexOf(code)]![1], terminal, status]).toEqual([meaning, [], "none"]);
  });
});

describe("what a page says of a call is what the kernel does", () => {
  it.each(errorCodes)("%s", async (code) => {
    const page = pageOf(code);
    const list: readonly Scenario[] = scenarios[code];
    const seen = await Promise.all(list.map(play));
    const errors = seen.flatMap(({ result }) => (result.ok ? [] : [result.error]));
    expect(errors.map((error) => error.code)).toEqual(list.map(() => code));

    const details = errors.map((error) => error.details);
    expect(distinct(details.filter((each) => each !== null))).toEqual(distinct(examples(page)));
    expect(section(page, "Details")!.join("\n").includes("`null`")).toBe(details.includes(null));

    const facts = factsOf(page);
    const retryable = new Set(errors.map((error) => error.retryable));
    expect(facts.retryable).toBe(retryable.size === 2 ? "depends" : retryable.has(true) ? "yes" : "no");
    expect(facts.terminal).toEqual([...new Set(seen.flatMap(({ terminal }) => terminal ?? []))].toSorted());
    expect(facts.status).toBe(String(callProblems[code].status));
  });
});

describe("what a page says of setting up is what the kernel does", () => {
  it.each(setupErrorCodes)("%s", async (code) => {
    const result = await setupScenarios[code]();
    const cut = (value: unknown): unknown =>
      JSON.parse(JSON.stringify(value).replaceAll(/(blake3:)[0-9a-f]{64}/g, "$1…"));
    expect(cut(result.ok || result.error)).toEqual(examples(pageOf(code))[0]);
  });
});

it("every reason why an output has no normal form is explained", () => {
  const reasons = {
    accessor: true, bigint: true, "breaks-contract": true, cycle: true, detached: true, function: true, "lone-surrogate": true, "normalizer-threw": true, "normalizer-varies": true, "not-a-stream": true, "not-bytes": true, "not-finite": true, "not-plain": true, "not-text": true,
    "proto-key": true, symbol: true, syntax: true, "too-deep": true, "too-large": true, undefined: true, unreadable: true,
  } satisfies Record<NormalizeReason, true>; // prettier-ignore
  const explained = table(pageOf("NOT_NORMALIZABLE").prose, "`reason`", "Cause").flatMap(([cell = ""]) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name),
  );
  expect(explained.toSorted()).toEqual(Object.keys(reasons).toSorted());
});
