import { edgeHost, IsolateRack } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { describeCodeMode } from "./code-mode.ts";

describeCodeMode("the edge host", async () => edgeHost({ loader: new IsolateRack(bindings.LOADER), preempts: false }));
