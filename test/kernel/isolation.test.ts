import { blake3Hash, checkPackage, type IsolateHost, manifestOf, packageHash } from "@keyhole/kernel";
import { describe, expect, it } from "vitest";
import { openKernel, toolOf } from "../support/kernel.ts";
import { hostOpening } from "../support/module-host.ts";

/** Counts what it opens; every isolate answers with the number it was opened as. */
function countingHost(): IsolateHost {
  let opened = 0;
  return hostOpening("counting", async () => {
    const number = ++opened;
    let alive = true;
    return {
      call: async () => ({ kind: "returned", output: { form: "json", text: `${number}` } }),
      terminate: () => (alive = false),
      get alive() {
        return alive;
      },
    };
  });
}

describe("an isolate's memory", () => {
  it("serves one session of one caller, whatever names others choose", async () => {
    const { kernel } = await openKernel({ host: countingHost() });
    const manifest = manifestOf(
      toolOf(() => null),
      "module",
    );
    const code = "export default {}";
    const packed = { manifest, code, hash: packageHash(manifest, code, blake3Hash) ?? "" };
    expect(checkPackage(packed)).toMatchObject({ ok: true });
    kernel.register(packed);
    const isolateOf = async (caller: string, sessionId: string) => {
      const result = await kernel.call("subject", {}, { caller, sessionId });
      return result.ok ? result.data : result.error.code;
    };
    expect(await isolateOf("ada", "s")).toBe(1);
    expect(await isolateOf("ada", "s")).toBe(1);
    expect(await isolateOf("eve", "s")).toBe(2);
    expect(await isolateOf("ada", "t")).toBe(3);
    expect(await isolateOf('ada","s', "")).toBe(4);
  });
});
