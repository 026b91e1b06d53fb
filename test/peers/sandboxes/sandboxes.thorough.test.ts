import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const run = promisify(execFile);

describe.each(["keyhole", "keyhole-trusted", "quickjs-emscripten", "ai-sdk", "thread"])("the sandbox %s", (name) => {
  it.each(["cold", "stop"])("answers, and gives the figure %s", async (what) => {
    const args = ["--no-warnings", "--expose-gc", "--import", here("../../../scripts/source.mjs"), here("in-node.ts")];
    const { stdout } = await run(process.execPath, [...args, name, what]);
    expect(Number(stdout)).not.toBeNaN();
  });
});
