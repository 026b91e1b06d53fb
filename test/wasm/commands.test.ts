import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { nodeHost } from "@keyhole/worker-host/node";
import { interpreterHost, withWasiCommands } from "@keyhole/worker-host/wasm";
import { expect, it } from "vitest";
import { describeCommands } from "./commands.shared.ts";
import { testEngine } from "./engine.ts";
import { modules } from "./tools.ts";

describeCommands("threads of Node", { open: async (options) => nodeHost(options), preempts: true });
describeCommands("this thread", {
  async open({ commands, commandLimits }) {
    const host = interpreterHost({ engine: await testEngine(), brokers: [filesBroker(memoryStore())] });
    return withWasiCommands(host, { commands, ...commandLimits });
  },
  preempts: false,
});

it("a module that is compiled already, and was not metered, is no command", async () => {
  const module = await WebAssembly.compile(modules.exits);
  expect(() => nodeHost({ commands: { exits: { module } } })).toThrow("This version of Keyhole did not meter");
});
