import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { serveModel } from "./model-server.ts";
import { ended, removeTemplateApps, templateApp } from "./template-app.ts";

afterAll(removeTemplateApps);

const input = { path: "diary/today.txt", text: "Rain." };

it("the template agent leads from init to a verified log, with a model over HTTP", async () => {
  const app = await templateApp("agent");
  const { folder, keyhole, run } = app;
  expect(await keyhole(["pack", "tools"])).toMatchObject({ code: 0 });
  expect((await run("--test")).said).toMatch(/fail 0$/m);
  expect((await keyhole(["policy", "check", "policy.json"])).code).toBe(0);
  // Without a model it says what is missing.
  expect(await run("src/main.ts", "hello")).toMatchObject({
    code: 1,
    said: "MODEL is not set. Name a model of your provider.\n",
  });

  const model = await serveModel("save_note", input);
  const env = { ...process.env, MODEL: "scripted", OPENAI_API_KEY: "none", OPENAI_BASE_URL: model.origin };
  const said = async (typed: string): Promise<string> =>
    (await ended(folder, ["src/main.ts", "Save a note."], { typed, env })).said;
  expect(await said("yes\n")).toContain("CAPABILITY_DENIED");
  const policy = readFileSync(join(folder, "policy.json"), "utf8");
  writeFileSync(join(folder, "policy.json"), policy.replace('["notes/**"]', '["notes/**", "diary/**"]'));
  expect(await said("no\n")).toContain("APPROVAL_DENIED");
  expect(await said("yes\n")).toContain("Saved 5 characters to diary/today.txt.");
  await model.close();
  for (const file of ["audit.jsonl", "run.keyhole"]) expect((await keyhole(["verify", file])).code).toBe(3);
  app.report();
});

it("keyhole takes at most 40 MB of a project that has no edge", async () => {
  const { folder } = await templateApp("node");
  // The folder around it has the command, and nothing else.
  const modules = join(dirname(folder), "node_modules");
  const entries = readdirSync(modules, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  // By inode: the script of esbuild's package links its program to a second name.
  const files = new Map(
    entries.map(({ parentPath, name }) => statSync(join(parentPath, name))).map((file) => [file.ino, file.size]),
  );
  const bytes = [...files.values()].reduce((sum, size) => sum + size, 0);
  process.stdout.write(`keyhole: ${(bytes / 1e6).toFixed(1)} MB installed, in ${files.size} files\n`);
  expect(bytes).toBeLessThan(40e6);
});
