import { it } from "vitest";
import { chaosInPage } from "./page.ts";

it("every fault ends as it may in the interpreter, and leaves no frame", { timeout: 3_600_000 }, () =>
  chaosInPage({ isolation: "interpreter" }),
);
