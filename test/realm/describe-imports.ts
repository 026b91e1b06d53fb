import type { IsolateHost } from "@keyhole/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { moduleOf, toolText } from "../browser/open.ts";
import { openKernel, toolOf } from "../support/kernel.ts";
import { packed } from "../support/module-host.ts";

const codes: readonly (readonly [what: string, code: string])[] = [
  ["imports when it runs", toolText("return await import(input.from);")],
  ["imports when it is loaded", toolText("return 1", `import "https://other.example/x.js";`)],
  ["exports what another module has", `export * from "./shell.js"; ${toolText("return 1")}`],
  ["asks for the module's own address", toolText("return import.meta.url")],
];

/** @param makeHost runs packages in isolates */
export function describeImports(name: string, makeHost: () => Promise<IsolateHost>): void {
  describe(`${name}, given code that`, () => {
    let host: IsolateHost;
    beforeAll(async () => {
      host = await makeHost();
    });
    afterAll(() => host.close());

    it.each(codes)("%s, refuses it when it is registered, and when it would run", async (_, code) => {
      const { kernel } = await openKernel({ host });
      const tool = toolOf(() => 1, { name: "importing", determinism: "external" });
      expect(kernel.register(packed(tool, code))).toMatchObject({
        ok: false,
        error: { code: "INVALID_MANIFEST", path: "/code", message: expect.stringContaining("can contain an import") },
      });
      // The program of a call is never registered.
      await expect(host.open(moduleOf(code))).rejects.toMatchObject({
        code: "TOOL_ERROR",
        message: expect.stringContaining("can contain an import"),
      });
    });
  });
}
