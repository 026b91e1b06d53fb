import { browserHost } from "@keyhole/worker-host/browser";
import { describeReplay } from "./replay-hosts.ts";

describeReplay("a browser", () => browserHost());
