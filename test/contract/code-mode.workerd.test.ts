import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { describeCodeMode } from "./code-mode.ts";

describeCodeMode("the edge host", async () =>
  edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false }),
);
