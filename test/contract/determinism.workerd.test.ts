import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { describeDeterminism } from "./determinism.ts";

describeDeterminism("the edge", async () =>
  edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false }),
);
