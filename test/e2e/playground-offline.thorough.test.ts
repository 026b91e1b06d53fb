import { expect, it } from "vitest";
import { echo } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const visiting = new Visiting();

it("works after the first load without its server, and stores nothing but its own files", async () => {
  const page = await visiting.open();
  const kept = () =>
    page.evaluate(async () => {
      const stores = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
      const requests = await Promise.all(stores.map((store) => store.keys()));
      return requests.flat().map(({ url }) => new URL(url).pathname);
    });
  await expect.poll(async () => (await kept()).length).toBeGreaterThan(20);
  await page.evaluate(() => navigator.serviceWorker.ready);
  // What a tool or a person reads beside the page is not the page's.
  await page.evaluate(async () => (await fetch("./demo/greeting.json")).text());
  expect((await kept()).filter((path) => path !== "/" && !path.startsWith("/assets/"))).toEqual([]);

  const failed: string[] = [];
  page.on("requestfailed", (request) => failed.push(new URL(request.url()).pathname));
  await page.context().setOffline(true);
  await page.reload();
  await page.getByText("Ready", { exact: true }).waitFor({ state: "attached" });
  expect(await echo(page, "nobody answers out there")).toBe("Completed");
  for (const screen of ["Timeline", "Policy", "Replay", "Decide"]) {
    await page.getByRole("link", { name: screen, exact: true }).click();
    await page.getByRole("main", { name: screen }).waitFor();
  }
  await page.context().setOffline(false);
  // Nothing that the page needs: its icon, and the service worker itself, which the browser looks for anew.
  expect(failed.filter((path) => !["/icon.svg", "/service-worker.js"].includes(path))).toEqual([]);
  visiting.visitor.complaints.splice(0);
});
