import { edgeHost, IsolateRack } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { describeReplay } from "./replay-hosts.ts";

describeReplay("the edge", async () => edgeHost({ loader: new IsolateRack(bindings.LOADER), preempts: false }));
