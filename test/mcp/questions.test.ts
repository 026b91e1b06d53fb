import { defineTool } from "@keyhole/kernel";
import { inputRequired } from "@modelcontextprotocol/server";
import { describe, expect, it } from "vitest";
import { RequestStates } from "../../packages/mcp/src/server/request-state.ts";
import { Seal } from "../../packages/mcp/src/server/seal.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { type Raw, send } from "./raw.ts";
import { closeAfterEach, handlerOf, kernelWith } from "./support.ts";

closeAfterEach();

const requestedSchema = { type: "object", properties: { sure: { type: "boolean" } } } as const;
const question = {
  missing: (answers: Readonly<Record<string, unknown>>) =>
    "sure" in answers ? undefined : { sure: inputRequired.elicit({ message: "Pay bob once?", requestedSchema }) },
};

async function paying() {
  let paid = 0;
  const kernel = await kernelWith([
    defineTool({
      name: "give",
      version: "1.0.0",
      description: "Gives bob.",
      input: {
        type: "object",
        properties: { amount: { type: "integer" }, answers: { type: "object" } },
        required: ["amount", "answers"],
      },
      output: { kind: "text" },
      execute: () => `given ${++paid}`,
    }),
  ]);
  const handler = handlerOf(kernel, { questions: { give: question } });
  const call = (more: object = {}): Raw => ({
    method: "tools/call",
    params: { name: "give", arguments: { amount: 5 }, ...more },
    capabilities: { elicitation: { form: {} } },
  });
  const ask = async (): Promise<string> => {
    const { result } = await send(handler, call());
    return (result as { readonly requestState: string }).requestState;
  };
  const answer = (requestState: string) =>
    send(handler, call({ requestState, inputResponses: { sure: { action: "accept", content: { sure: true } } } }));
  return { ask, answer, paid: () => paid };
}

describe("a question of a tool", () => {
  it("runs the tool once, however often its answer is sent", async () => {
    const { ask, answer, paid } = await paying();
    const [state, other] = [await ask(), await ask()];
    expect((await answer(state)).result).toMatchObject({ content: [{ text: "given 1" }] });
    const refused = { error: { code: -32_602, data: { reason: "invalid_request_state" } } };
    for (const again of await Promise.all([answer(state), answer(state)])) expect(again).toMatchObject(refused);
    expect(paid()).toBe(1);
    // An equal call that was asked for itself has its own.
    expect((await answer(other)).result).toMatchObject({ content: [{ text: "given 2" }] });
  });

  it("remembers a used state until it is too old", () => {
    const clock = new FakeClock();
    const states = new RequestStates(new Seal(), clock);
    const ada = { caller: "ada" };
    const made = () => states.read(states.write({ tool: "give", args: "" }, ada), ada)!;
    const use = (state: ReturnType<typeof made>): boolean => states.use(state, ada);
    const [first, second] = [made(), made()];
    expect([use(first), use(second), use(first)]).toEqual([true, true, false]);
    clock.jump(599_999);
    const third = made();
    expect([use(third), use(first)]).toEqual([true, false]);
  });
});
