import { browserHost } from "@keyhole/worker-host/browser";
import { describeLeaks } from "./describe-leaks.ts";

describeLeaks("a frame", () => browserHost());
