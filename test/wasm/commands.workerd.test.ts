import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { filesBroker, memoryStore } from "@keyhole/worker-host/brokers/files";
import { bindings } from "../edge/bindings.ts";
import { describeCommands } from "./commands.shared.ts";

// In one process nothing stops a loop but its fuel.
describeCommands("dynamic Workers", {
  async open(options) {
    const brokers = [filesBroker(memoryStore())];
    return edgeHost({ loader: new IsolateRegistry(bindings.LOADER), brokers, preempts: false, ...options });
  },
  preempts: false,
});
