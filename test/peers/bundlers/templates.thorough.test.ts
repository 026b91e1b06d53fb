import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, it } from "vitest";
import { packedApp, removePackedApps } from "../../support/packed-app.ts";

/* Each template as a newcomer takes it, with the packages of the tarballs. */

afterAll(removePackedApps);

interface Ended {
  readonly code: number | null;
  readonly said: string;
}

async function started(folder: string, words: readonly string[], typed = ""): Promise<Ended> {
  const child = spawn(process.execPath, words, { cwd: folder });
  child.stdin.end(typed);
  const [out, error, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("close", resolve)),
  ]);
  return { code, said: `${out}${error}` };
}

/** The command as the tarball has it. */
const command = (parent: string): string => join(parent, "node_modules/keyhole/dist/cli.js");

describe("the template node", () => {
  it("leads from init to a call, a refusal, another policy, an approval and a verified log", async () => {
    const parent = packedApp({}, ["typescript", "@types/node"]);
    const app = join(parent, "app");
    const keyhole = (...words: readonly string[]): Promise<Ended> => started(app, [command(parent), ...words]);
    expect((await started(parent, [command(parent), "init", "node", "app"])).code).toBe(0);
    expect(await keyhole("pack", "tools")).toMatchObject({ code: 0 });
    expect(await started(app, [join(parent, "node_modules/typescript/bin/tsc"), "-p", "."])).toEqual({
      code: 0,
      said: "",
    });
    expect((await started(app, ["--test"])).said).toMatch(/pass 3$/m);

    const call = (name: string, input: object, typed?: string): Promise<Ended> =>
      started(app, ["src/main.ts", name, JSON.stringify(input)], typed);
    expect((await call("word_count", { text: "Water the plants." })).said).toBe("{ words: 3 }\n");
    const note = { path: "diary/today.txt", text: "Rain." };
    const refused = await call("save_note", note, "yes\n");
    expect(refused.code).toBe(1);
    expect(refused.said).toContain("code: 'CAPABILITY_DENIED'");
    const policy = join(app, "policy.json");
    writeFileSync(policy, readFileSync(policy, "utf8").replace('["notes/**"]', '["notes/**", "diary/**"]'));
    expect((await keyhole("policy", "check", "policy.json")).code).toBe(0);
    expect((await call("save_note", note, "no\n")).said).toContain("code: 'APPROVAL_DENIED'");
    expect((await call("save_note", note)).said).toContain("code: 'APPROVAL_DENIED'");
    expect((await call("save_note", note, "yes\n")).said).toContain("Saved 5 characters to diary/today.txt.");
    expect(readFileSync(join(app, "workspace/diary/today.txt"), "utf8")).toBe("Rain.");

    expect(await keyhole("verify", "audit.jsonl")).toMatchObject({
      code: 3,
      said: expect.stringMatching(/^✓ log /) as string,
    });
    expect(
      (await keyhole("log", "show", "audit.jsonl", "--type", "tool.completed")).said.trim().split("\n"),
    ).toHaveLength(2);
    expect(existsSync(join(app, ".gitignore"))).toBe(true);
  });
});
