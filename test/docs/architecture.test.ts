import { existsSync, readdirSync, readFileSync } from "node:fs";
import { type AuditType, errorCodes } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { root } from "../support/sources.ts";
import { readPage, readPages, section, table } from "./markdown.ts";

const page = readPage("docs/architecture.md");
const steps = table(section(page, "The life of a call")!, "Step", "Function", "State", "Events", "Can stop with");
const wordsIn = (cell: string): readonly string[] => [...cell.matchAll(/`([\w.]+)`/g)].map(([, word = ""]) => word);

const eventTypes: ReadonlySet<string> = new Set(
  Object.keys({
    "approval.requested": true, "approval.resolved": true, "body.read": true, "call.invoked": true, "call.keyed": true, "call.queued": true, "capability.checked": true, "capability.used": true, "data.kept": true, "mode.changed": true,
    "policy.changed": true, "policy.decided": true, "result.reused": true, "tool.blocked": true, "log.recovered": true, "grant.restored": true, "grant.revoked": true, "tool.completed": true, "tool.failed": true, "tool.lost": true, "tool.registered": true, "tool.unregistered": true, "tool.retried": true, "tool.suspended": true, "tool.resumed": true, "tool.started": true, "tool.quarantined": true, "health.asked": true, "health.answered": true, "purity.asked": true, "purity.answered": true,
  } satisfies Record<AuditType, true>), // prettier-ignore
);

describe("the steps of a call", () => {
  it("are twelve, in the order of the kernel", () => {
    expect(steps.map(([title = ""]) => Number.parseInt(title, 10))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    const source = readFileSync(`${root}packages/kernel/src/call/pipeline.ts`, "utf8");
    const pass = source.slice(source.indexOf("async function pass("), source.indexOf("/** An extension that mixes"));
    const places = steps.flatMap(([, names = ""]) =>
      wordsIn(names).map((name) => pass.search(new RegExp(`(?<![#.\\w])${name}\\b(?! )`))),
    );
    expect(places).toHaveLength(12);
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it("have exactly the states that the page names, each made in the file of its step", () => {
    const folder = `${root}packages/kernel/src/call/steps/`;
    const made = readdirSync(folder).flatMap((file) => {
      const text = readFileSync(folder + file, "utf8");
      const states = [...text.matchAll(/export interface (\w+) extends (?:[\w, ]+, )?Made\b/g)];
      return states.map(([, state = ""]) => ({ state, text }));
    });
    const answered = { state: "Answered", text: readFileSync(`${folder}answer.ts`, "utf8") };
    const rows = steps.map(([, name = "", state = ""]) => [wordsIn(name)[0], wordsIn(state)[0]]);
    const names = rows.map(([, state]) => state);
    expect(new Set(names)).toEqual(new Set([...made.map(({ state }) => state), "Answered"]));
    expect(names).toHaveLength(made.length + 1);
    for (const [name, state] of rows)
      expect([...made, answered].find((each) => each.state === state)?.text).toContain(`export function ${name}(`);
  });

  it("name events and codes that there are", () => {
    const events = steps.flatMap(([, , , cell = ""]) => wordsIn(cell));
    const codes = steps.flatMap(([, , , , cell = ""]) => wordsIn(cell));
    expect(events.filter((event) => !eventTypes.has(event))).toEqual([]);
    expect(codes.filter((code) => !(errorCodes as readonly string[]).includes(code))).toEqual([]);
    expect(events.length + codes.length).toBeGreaterThan(15);
  });
});

it("files that pages name are there", () => {
  const named = readPages().flatMap(({ path, prose }) =>
    prose.flatMap((line) =>
      [...line.matchAll(/`((?:packages|test|docs|scripts)\/[\w./-]+)`/g)].map(([, file = ""]) => ({ path, file })),
    ),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ file }) => !existsSync(root + file))).toEqual([]);
});
