import type { Page } from "playwright";
import { createKernel } from "@keyhole/kernel";
import { recordingHost, type RunEntry, writeRun } from "@keyhole/kernel/replay";
import { nodeHost } from "@keyhole/worker-host/node";
import { calculator } from "@keyhole/worker-host/tools";
import { beforeAll, describe, expect, it } from "vitest";
import { choose, echo, endOf, run } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const { open } = new Visiting();
const entries: RunEntry[] = [];

beforeAll(async () => {
  const node = nodeHost();
  const kernel = await createKernel({ host: recordingHost(node, (entry) => entries.push(entry)) });
  kernel.register(calculator);
  await kernel.call("calculator", { expression: "1 + 2" });
  await kernel.close();
  await node.close();
});

async function drop(page: Page, text: string): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Open a run" }).click();
  const file = { name: "week.keyhole", mimeType: "application/octet-stream", buffer: Buffer.from(text) };
  await (await chooser).setFiles(file);
}

const replay = (page: Page) => page.getByRole("main", { name: "Replay" });

describe("the replay screen", () => {
  it("gives the same bytes in the page as on Node, and shows the first difference of a changed run", async () => {
    const page = await open();
    await page.getByRole("link", { name: "Replay", exact: true }).click();
    await drop(page, "no run");
    await page.getByRole("alert").getByText("week.keyhole is no whole run").waitFor();
    await drop(page, writeRun({ entries }));
    await replay(page).getByText("all here, by their hashes").waitFor();
    await replay(page).getByRole("button", { name: "Replay", exact: true }).click();
    await replay(page).getByText("the same bytes, 1 call").waitFor();

    const changed = entries.map((entry): RunEntry =>
      entry.kind === "call" ? { ...entry, inputText: entry.inputText.replace("1 + 2", "1 + 3") } : entry,
    );
    await drop(page, writeRun({ entries: changed }));
    await replay(page).getByText("not run yet").waitFor();
    await replay(page).getByRole("button", { name: "Replay", exact: true }).click();
    await replay(page)
      .getByText(/^differs at entry 1/)
      .waitFor();
    await replay(page).getByRole("button", { name: "First difference" }).click();
    const pane = page.getByRole("complementary", { name: "The entry" });
    const difference = pane.getByRole("region", { name: "First difference" });
    expect(await difference.innerText()).toMatch(/− [\s\S]*3[\s\S]*\+ [\s\S]*4/);
    await pane.getByText("Input of the call").waitFor();
    await replay(page).getByRole("slider", { name: "Entry" }).fill("0");
    await replay(page).getByText("entry 0 of 1").waitFor();
    await replay(page).getByRole("button", { name: "Step" }).click();
    await replay(page).getByText("entry 1 of 1").waitFor();
  });

  it("executes a call of the page again, also after a reload, and says where there is no record", async () => {
    const page = await open();
    await choose(page, "list_directory");
    await page.getByRole("button", { name: "Fill in an example" }).click();
    await run(page);
    expect(await endOf(page)).toBe("Completed");
    await page.reload();
    await page.getByRole("link", { name: "Replay this run" }).click();
    await replay(page).getByText("all here, by their hashes").waitFor();
    await replay(page).getByRole("button", { name: "Replay", exact: true }).click();
    await replay(page).getByText("the same bytes, 1 call").waitFor();
    await page.evaluate(() => location.assign("#/replay/nobody"));
    await replay(page).getByText("This call is no whole run").waitFor();
  });

  it("compares two calls of the log", async () => {
    const page = await open();
    for (const message of ["one", "two"]) expect(await echo(page, message)).toBe("Completed");
    await page.getByRole("link", { name: "Replay", exact: true }).click();
    await page.getByRole("radio", { name: "Compare two calls" }).click();
    const input = page.getByRole("region", { name: "Input", exact: true });
    await input.getByText("differs").waitFor();
    expect(await input.innerText()).toMatch(/− [\s\S]*"one"[\s\S]*\+ [\s\S]*"two"/);
    await page.getByRole("region", { name: "Events", exact: true }).getByText("the same").waitFor();
  });
});
