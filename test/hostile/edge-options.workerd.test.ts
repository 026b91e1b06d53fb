import { edgeHost, kernelObject, sqlContent } from "@keyhole/edge";
import { edgeMcp, mcpGateway } from "@keyhole/edge/mcp";
import { describe, expect, it } from "vitest";

const none = {} as never;

/** As in option-takers.ts, for what only workerd loads. */
const takers: readonly (readonly [string, (options: never) => unknown, object, string])[] = [
  ["edgeHost", (options) => edgeHost(options), { loader: none, preempt: false }, "preempts"],
  ["edgeMcp", (options) => edgeMcp(options), { methodsOf: none }, "methodOf"],
  ["kernelObject", (options) => kernelObject(options), { tools: [], policy: none, modeTrigger: [] }, "modeTriggers"],
  ["mcpGateway", (options) => mcpGateway(options), { oauth: none, origins: [] }, "oauth"],
  ["sqlContent", (options) => sqlContent(none, options), { outputbytes: 1 }, "outputBytes"],
];

describe.each(takers)("%s", (_, take, wrong, meant) => {
  it("refuses a misspelt option", () => {
    expect(() => take(wrong as never)).toThrow(new RegExp(`has no option \`.*Known are .*\\b${meant}\\b`));
  });

  it("refuses one that hides in a class", () => {
    expect(() => take(Object.create(wrong) as never)).toThrow("plain object");
  });
});
