import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { describeExample } from "./primes.shared.ts";
import { describeWasmHost } from "./tools.shared.ts";

const host = async () => edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false });

describeWasmHost("a dynamic Worker", host, { preempts: false });
describeExample(host);
