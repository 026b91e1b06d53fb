import { it } from "vitest";
import { chaosInPage } from "./chaos/page.ts";

it("rounds of chaos end well, and leave no frame", { timeout: 3_600_000 }, () => chaosInPage({}));
