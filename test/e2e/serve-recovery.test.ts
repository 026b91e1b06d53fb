import { sized, thorough } from "../support/size.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OwnEdge, startOwnEdge } from "./own-edge.ts";
import { killed, type Part, parts, untilServing } from "./serve-recovery.ts";

let own: OwnEdge;
let failure: string | undefined;
beforeAll(async () => {
  own = await startOwnEdge();
  void own.edge.failed.then((reason) => (failure = reason));
});
afterAll(() => own?.edge.stop());

describe("an edge that npm start runs serves again", () => {
  it.each(sized<readonly Part[]>(parts.slice(0, 3), parts).map((part) => [part[0], part] as const))(
    "after %s was killed",
    async (_, part) => {
      await killed(own, part);
      await untilServing(own);
      expect(failure).toBeUndefined();
    },
  );

  if (thorough) {
    it("after the sandbox's runtime was killed three times in quick succession", async () => {
      for (let i = 0; i < 3; i++) await killed(own, parts[1]);
      await untilServing(own);
      expect(failure).toBeUndefined();
    });
  }
});
