import { it } from "vitest";
import { chaosInPage } from "./page.ts";

it("rounds of chaos end well in the interpreter, and leave no frame", { timeout: 3_600_000 }, () =>
  chaosInPage({ isolation: "interpreter" }),
);
