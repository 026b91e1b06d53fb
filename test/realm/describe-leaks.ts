import type { IsolateHost } from "@keyhole/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { leaks, tried } from "./leaks.ts";

/** @param makeHost runs tools in the realm that is tried */
export function describeLeaks(realm: string, makeHost: () => Promise<IsolateHost>): void {
  describe(`a tool in ${realm} does not get`, () => {
    let host: IsolateHost;
    let found: ReadonlyMap<string, unknown>;
    beforeAll(async () => {
      host = await makeHost();
      found = new Map(await tried(host));
    });
    afterAll(() => host.close());

    it.each(leaks)("%s", (name, _, expected) => {
      expect(found.get(name)).toEqual(expected);
    });
  });
}
