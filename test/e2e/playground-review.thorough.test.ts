import { describe, expect, it } from "vitest";
import { connectTo, fakeEdge, fakeEvent, fakeTool } from "./playground/fake-edge.ts";
import { callOf, choose, endOf, field, run, tabOf, untilEvent } from "./playground/visitor.ts";
import { Visiting } from "./playground/visiting.ts";

const visiting = new Visiting();
const { open } = visiting;

describe("the page", () => {
  it("completes the first example of each tool that reads a file", async () => {
    const page = await open();
    for (const tool of ["list_directory", "read_file"]) {
      await choose(page, tool);
      await page.getByRole("button", { name: /^Fill in/ }).click();
      await run(page);
      expect(await endOf(page)).toBe("Completed");
    }
  });

  it("has room for each member of a list of objects, at 1280 and 390 pixels", async () => {
    const item = {
      type: "object",
      properties: { name: { type: "string" }, email: { type: "string" }, note: { type: "string" } },
      required: ["name", "email", "note"],
    };
    const people = { type: "array", items: item, minItems: 1 };
    const input = { type: "object", properties: { people }, required: ["people"] };
    const edge = await fakeEdge({ tools: [fakeTool("invite", { input })], onCall: () => {} });
    try {
      const page = await open();
      await connectTo(page, edge.origin);
      await choose(page, "invite");
      const name = field(page, "name");
      if ((await name.count()) === 0) await page.getByRole("button", { name: /^Add/ }).click();
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        for (const member of ["name", "email", "note"]) {
          const box = await field(page, member).boundingBox();
          expect(box?.width).toBeGreaterThan(180);
        }
      }
    } finally {
      await edge.close();
    }
  });

  it("says that a call may have run where its edge is gone before the answer", async () => {
    const lost = await fakeEdge({
      tools: [fakeTool("slow")],
      onCall: (stream) => stream.send("audit", fakeEvent(1, "tool.started", {})),
    });
    const page = await open();
    await connectTo(page, lost.origin);
    await choose(page, "slow");
    await run(page);
    await untilEvent(page, "tool.started");
    await lost.close();
    expect(await endOf(page)).toBe("No answer");
    await page.locator("output.state").getByText("No answer").waitFor();
    await tabOf(page, "Result").click();
    await callOf(page).getByText("The call may have run.").waitFor();
    // The browser says in its console that the connection ended.
    visiting.visitor.complaints.length = 0;
  });
});
