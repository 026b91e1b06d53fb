import { edgeHost, IsolateRack } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { describeTenCalls, packages } from "./ten-calls.ts";

describeTenCalls("edge", packages, async () => edgeHost({ loader: new IsolateRack(bindings.LOADER), preempts: false }));
