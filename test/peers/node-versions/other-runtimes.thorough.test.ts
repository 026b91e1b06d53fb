import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { packedApp, removePackedApps } from "../../support/packed-app.ts";

/* Kernel and schema of the tarballs on Deno and Bun: the same decisions, messages and digests as on Node. */

const run = promisify(execFile);
const arch = process.arch === "arm64" ? { deno: "arm64", bun: "aarch64" } : { deno: "x64", bun: "x64" };
const installed = (path: string): string => join(import.meta.dirname, "node_modules", path);
const deno = installed(`@deno/linux-${arch.deno}-glibc/deno`);
const bun = installed(`@oven/bun-linux-${arch.bun}/bin/bun`);

const main = `import { createKernel, defineTool, verifyChain } from "@keyhole/kernel";
import { compileSchema } from "@keyhole/kernel/schema";
import { explain } from "@keyhole/kernel/schema/explain";
const input = { type: "object", properties: { message: { type: "string" } }, required: ["message"], additionalProperties: false };
const deny = { id: "never", effect: "deny", when: { arguments: [{ at: "/message", equals: "never" }] }, reason: "Never." };
const kernel = await createKernel({ policy: { version: "1", posture: "standard", rules: [deny] } });
const echo = { name: "echo", version: "1.0.0", description: "Says it.", input, output: { kind: "text" }, execute: ({ message }) => message };
const said = [kernel.registerTrusted(defineTool(echo)).ok];
for (const each of [{ message: "hello" }, { message: "never" }, { message: 1 }]) {
  const result = await kernel.call("echo", each);
  said.push(result.ok ? [result.data, result.hash] : [result.error.code, result.error.message]);
}
const compiled = compileSchema({ properties: { n: { minimum: 1 }, s: { pattern: "^a+$", format: "date" } } }, { explain });
said.push(compiled.validator.validate({ n: 0, s: "b" }).errors.map(({ message }) => message));
const events = await kernel.audit.read();
said.push(events.map(({ type }) => type), verifyChain(events).ok);
await kernel.close();
console.log(JSON.stringify(said));
`;

let app: string;
beforeAll(() => {
  app = packedApp({ "main.js": main });
});
afterAll(removePackedApps);

it.each([
  ["Deno", deno, ["run", "--allow-read", "--allow-env", "main.js"]],
  ["Bun", bun, ["main.js"]],
])("%s gives what Node gives", async (_, program, words) => {
  const { stdout: expected } = await run(process.execPath, ["main.js"], { cwd: app });
  expect(expected).toContain("POLICY_DENIED");
  expect(expected).toContain(",true]");
  const { stdout } = await run(program, words, { cwd: app });
  expect(JSON.parse(stdout)).toEqual(JSON.parse(expected));
});
