import { edgeHost, IsolateRegistry } from "@keyhole/edge";
import type { IsolateHost } from "@keyhole/kernel";
import { bindings } from "../edge/bindings.ts";
import { describeImports } from "./describe-imports.ts";
import { describeLeaks } from "./describe-leaks.ts";
import { describeRealm } from "./describe-realm.ts";
import { describeWakes } from "./describe-wakes.ts";

const makeHost = async (): Promise<IsolateHost> =>
  edgeHost({ loader: new IsolateRegistry(bindings.LOADER), preempts: false });

describeImports("the edge host", makeHost);
describeLeaks("a dynamic Worker", makeHost);
describeRealm("D", makeHost);
describeWakes("D", makeHost);
