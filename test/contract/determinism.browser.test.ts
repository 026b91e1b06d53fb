import { browserHost } from "@keyhole/worker-host/browser";
import { describeDeterminism } from "./determinism.ts";

describeDeterminism("a browser", () => browserHost());
