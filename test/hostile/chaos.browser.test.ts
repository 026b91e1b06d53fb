import { browserHost } from "@keyhole/worker-host/browser";
import { expect, it } from "vitest";
import { chaos } from "./chaos.ts";

it("25 rounds of chaos end well, and leave no frame", { timeout: 120_000 }, async () => {
  await chaos(await browserHost(), { seed: 20_261_121, rounds: 25 });
  expect(document.querySelectorAll("iframe[title=isolate]")).toHaveLength(0);
});
