import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { describeTenCalls, packages } from "./ten-calls.ts";

describeTenCalls("edge", packages, async () =>
  edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false }),
);
