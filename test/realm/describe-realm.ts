import type { IsolateHost } from "@keyhole/kernel";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { callWith, moduleOf, quietPort } from "../browser/open.ts";
import { differences, type Realm, readList, realms } from "./list.ts";
import text from "./realm.txt?raw";
import walk from "./walk.js?raw";

declare module "vitest" {
  interface ProvidedContext {
    /** True under `npm run write:realm`, which reads what the realms print. */
    readonly writesRealm: boolean;
  }
}

/** The hash of the tool that walks. */
export const walkHash: string = moduleOf(walk).hash;

interface Walked {
  readonly rows: readonly (readonly [holder: string, keys: readonly string[]])[];
  readonly texts: readonly string[];
  /** What settled in a task of the platform's own. */
  readonly late: readonly string[];
}

async function walked(host: IsolateHost, realm: Realm): Promise<Walked> {
  const isolate = await host.open(moduleOf(walk));
  const outcome = await isolate.call(callWith({ follow: realm !== "N" }, { outputBytes: 4 << 20 }), quietPort);
  isolate.terminate("the walk is over");
  if (outcome.kind !== "returned" || outcome.output.form !== "json") throw new Error(JSON.stringify(outcome));
  return JSON.parse(outcome.output.text) as Walked;
}

/**
 * Holds what a tool can reach against the list, and all that any of it says against what no tool may know.
 *
 * @param secrets must be in no text
 */
export function describeRealm(
  realm: Realm,
  makeHost: () => Promise<IsolateHost>,
  secrets: readonly (readonly [what: string, pattern: RegExp])[] = [],
): void {
  describe(`in ${realms[realm]}`, () => {
    let host: IsolateHost;
    let found: Walked;
    beforeAll(async () => {
      host = await makeHost();
      found = await walked(host, realm);
    });
    afterAll(() => host.close());

    it("a tool reaches what the list says, for the reasons there, and nothing else", () => {
      const paths = found.rows.flatMap(([holder, keys]) => keys.map((key) => `${holder} | ${key}`));
      // oxlint-disable-next-line no-console -- All that crosses from every engine to the script.
      if (inject("writesRealm")) return console.log(`REALM ${realm} ${JSON.stringify(paths)}`);
      expect(differences(readList(text), realm, new Set(paths))).toEqual([]);
    });

    it("nothing wakes a tool but what its host sends", () => {
      expect(found.late).toEqual([]);
    });

    it.each(secrets)("nothing that a tool reaches says %s", (_, pattern) => {
      expect(found.texts.length).toBeGreaterThan(500);
      expect(found.texts.filter((each) => pattern.test(each))).toEqual([]);
    });
  });
}
