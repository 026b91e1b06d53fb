import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { describeReplay } from "./replay-hosts.ts";

describeReplay("the edge", async () => edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false }));
