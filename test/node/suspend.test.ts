import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { terminalTypes } from "@keyhole/kernel";
import { verifyAudit } from "@keyhole/kernel/audit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { thorough } from "../support/size.ts";
import { comparable, journalOf, typesOf } from "../support/suspension.ts";
import errand, { type Done, type Errand } from "./suspend-process.ts";

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const terminal: ReadonlySet<string> = new Set(terminalTypes);
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keyhole-suspend-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Does it in a process of its own, which has ended when this resolves. */
async function inProcess(does: Errand["does"]): Promise<Done> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [pathOf("./process.ts"), pathOf("./suspend-process.ts"), JSON.stringify({ folder, does } satisfies Errand)],
    { maxBuffer: 2 ** 26 },
  );
  return JSON.parse(stdout) as Done;
}

/** The suspending process ends. The process of the test resumes as well as a third one does, and saves its start. */
const elsewhere = (does: Errand["does"]): Promise<Done> => (thorough ? inProcess(does) : errand({ folder, does }));

/** Ids within what a call gave are new with every call, and so are digests over them. */
const withoutIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/"callId":"[^"]*"|"hash":"[^"]*"|"responseHash":"[^"]*"/g, '"id":""'));

it("one process suspends what waits for a person and for a broker, and ends; another one goes on: same results, same fuel, same journal", async () => {
  const [whole, first] = await Promise.all([elsewhere("whole"), inProcess("suspend")]);
  expect(first.results.map((result) => !result.ok && result.error.code)).toEqual(["SUSPENDED", "SUSPENDED"]);
  const second = await elsewhere("resume");
  expect(withoutIds(second.results.map(comparable))).toEqual(withoutIds(whole.results.map(comparable)));
  expect(second.results.map(({ meta }) => meta.fuelUsed)).toEqual(whole.results.map(({ meta }) => meta.fuelUsed));
  expect(second.results.map(({ meta }) => typeof meta.fuelUsed)).toEqual(["number", "number"]);
  for (const [at, { callId }] of second.results.entries()) {
    const expected = journalOf(whole.events, whole.results[at]!.callId);
    expect(withoutIds(journalOf(second.events, callId))).toEqual(withoutIds(expected));
  }
  // The log of both is one, is whole, and has one end per call.
  expect(await verifyAudit(second.events)).toMatchObject({ verdict: "unvouched", firstSeq: 0 });
  const callIds = new Set(second.events.flatMap(({ callId }) => callId ?? []));
  expect(callIds.size).toBe(3);
  for (const callId of callIds) {
    const types = typesOf(second.events, callId);
    expect(types.filter((type) => terminal.has(type))).toEqual(["tool.completed"]);
    expect(types.indexOf("tool.suspended")).toBeLessThan(types.indexOf("tool.resumed"));
  }
});
