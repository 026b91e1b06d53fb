import { browserHost } from "@keyhole/worker-host/browser";
import { describeCodeMode } from "./code-mode.ts";

describeCodeMode("the browser host", () => browserHost());
