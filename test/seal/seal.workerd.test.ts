import { edgeHost, IsolateRack } from "@keyhole/edge";
import { bindings } from "../edge/bindings.ts";
import { describeLeaks } from "./describe-leaks.ts";

describeLeaks("a dynamic Worker", async () => edgeHost({ loader: new IsolateRack(bindings.LOADER), preempts: false }));
