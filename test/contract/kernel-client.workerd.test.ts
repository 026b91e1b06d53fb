import { aiSdkTools } from "@keyhole/agents/ai-sdk";
import { connectEdge, type EdgeClient } from "@keyhole/worker-host/edge";
import { describe, expect, it } from "vitest";
import { openService, tokenOf } from "../edge/service.ts";
import { clientTools, kernelClientContract } from "./kernel-client.ts";

const connected = async () => {
  const service = await openService({}, undefined, clientTools);
  return connectEdge("https://edge.example", tokenOf("all"), {
    fetch: (url, init) => service.send(url.slice("https://edge.example".length), init),
  });
};

describe("an agent over an edge", () => {
  it("names the subject of its token as the caller", async () => {
    const { tools } = await aiSdkTools(await connected(), { caller: "alice" });
    const { say } = tools;
    if (!say) throw new Error("There is no tool.");
    let last: unknown;
    for await (const answer of say.execute({ message: "hi" }, { toolCallId: "1", messages: [] })) last = answer;
    expect(last).toMatchObject({ ok: true, data: { message: "hi" } });
  });

  it.each([
    ["list", (edge: EdgeClient) => edge.list({ caller: "bob" })],
    ["call", (edge: EdgeClient) => edge.call("say", {}, { caller: "bob" })],
    ["preview", (edge: EdgeClient) => edge.preview("say", {}, { caller: "bob" })],
  ])("is refused a %s for another caller, with both names", async (_, ask) => {
    await expect(ask(await connected())).rejects.toMatchObject({
      code: "EDGE_REFUSED",
      problem: "FORBIDDEN",
      message: expect.stringMatching(/"bob".*"alice"/),
    });
  });
});

describe("a client of an edge", () => {
  kernelClientContract(connected);
});
