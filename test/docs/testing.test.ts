import { globSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { parts } from "../../scripts/test/thorough-parts.mjs";
import { allContractRuns, contractRuns, unknownContracts, withContracts } from "../support/contract-table.ts";
import { root } from "../support/sources.ts";
import { readPage, table } from "./markdown.ts";

describe("docs/testing.md", () => {
  it("has the table of contracts of internals/contracts.md: `npm run write:contract-table` writes it", () => {
    const page = readFileSync(`${root}docs/internals/contracts.md`, "utf8");
    expect(page).toBe(withContracts(page));
  });

  it("shows the parts of the thorough run as scripts/test/thorough-parts.mjs has them", () => {
    const rows = table(readPage("docs/testing.md").prose, "Part", "Holds");
    expect(rows).toEqual(parts.map(({ name, holds }) => [`\`${name}\``, holds]));
  });

  it("has a row for every contract of the tests", () => {
    expect(unknownContracts(allContractRuns())).toEqual([]);
  });

  it("reads the part of a contract where it is given, and where it is named before", () => {
    const given = contractRuns(
      "a.browser.test.ts",
      `describeA("x", make, { preempts: true, part: wholeIn("chromium") });`,
    );
    expect(given).toMatchObject([{ contract: "describeA", subject: "x", part: "chromium" }]);
    const named = contractRuns("a.test.ts", `const part = "engine";\ndescribeA("x", make, { preempts: true, part });`);
    expect(named).toMatchObject([{ part: "engine" }]);
    expect(contractRuns("a.test.ts", `describeA("x", make);`)).toMatchObject([{ part: "whole" }]);
  });
});

it("the thorough run runs each folder of test/peers in one part", () => {
  const folders = globSync("test/peers/*/package.json", { cwd: root }).map((path) => basename(dirname(path)));
  const named = parts.flatMap(({ run }) => ("peers" in run ? run.peers : []));
  expect(named.toSorted()).toEqual(folders.toSorted());
});
