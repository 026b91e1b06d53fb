import { describe, it } from "vitest";
import { walkFirstTime } from "./playground/first-time.ts";
import { Visiting } from "./playground/visiting.ts";

const { open } = new Visiting();

/** By what stands on the page alone: no tool is known before. */
describe("a person who has never seen the page", () => {
  it("is refused, learns why, changes the policy, succeeds, approves a write, and replays it", async () => {
    await walkFirstTime(await open());
  });
});
