import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { sized } from "../support/size.ts";
import { describeRandomTools } from "./model-hosts.shared.ts";

const host = async () => edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false });
describeRandomTools("a dynamic Worker", host, sized(6, 100));
