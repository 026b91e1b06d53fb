import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, expect, it } from "vitest";
import { freePorts } from "../../../scripts/serve/ports.mjs";
import { agreeToEdge, choose, endOf, field, resultOf, run, Visits } from "../../e2e/playground/visitor.ts";
import { removeTemplateApps, templateApp } from "./template-app.ts";

afterAll(removeTemplateApps);

it("keyhole dev --edge shows the tools of a project in the playground that @keyhole/edge brings", async () => {
  const { folder, program } = await templateApp("worker");
  const [port = 0, pagePort = 0] = await freePorts(2);
  const words = ["dev", "--edge", `--port=${port}`, `--page-port=${pagePort}`];
  const child = spawn(process.execPath, [program("keyhole/dist/cli.js"), ...words], {
    cwd: folder,
    env: { ...process.env, KEYHOLE_TOKEN: "own-token" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const visits = await Visits.apart();
  try {
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (said += text));
    await expect.poll(() => said.includes("\nready\n") || child.exitCode !== null).toBe(true);
    const [, link] = / {2}page {3}(\S+)/.exec(said) ?? [];
    expect(link, said).toBeDefined();
    const visitor = await visits.visit(link!);
    const { page } = visitor;
    await agreeToEdge(page);
    await page.getByRole("radio", { name: "Edge" }).click();
    await choose(page, "word_count");
    await field(page, "text").fill("Water the plants.");
    await run(page);
    expect(await endOf(page)).toBe("Completed");
    expect(await resultOf(page)).toMatch(/"words": 3/);
    visitor.leave();
  } finally {
    await visits.close();
    child.kill("SIGTERM");
    await once(child, "close");
  }
  expect(child.exitCode).toBe(143);
});
