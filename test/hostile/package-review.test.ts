import { describe, expect, it } from "vitest";
import { openKernel } from "../support/kernel.ts";

describe("a hostile package", () => {
  it.each([
    ["nothing that has a text", Object.create(null) as object],
    [
      "what throws when it is made text",
      {
        toString: () => {
          throw new Error("again");
        },
      },
    ],
    ["a symbol", Symbol("s")],
  ])("that throws %s when it is read is refused", async (_, thrown) => {
    const { kernel } = await openKernel();
    const foreign = {
      get manifest(): never {
        throw thrown;
      },
    };
    expect(kernel.register(foreign as never)).toMatchObject({ ok: false, error: { code: "INVALID_MANIFEST" } });
  });
});
