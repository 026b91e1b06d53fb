import { it } from "vitest";
import { chaosInPage } from "./chaos/page.ts";

it("every fault ends as it may, and leaves no frame", { timeout: 3_600_000 }, () => chaosInPage({}));
