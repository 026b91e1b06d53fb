import { browserHost } from "@keyhole/worker-host/browser";
import { describeSuspendedCalls } from "./suspend.ts";

describeSuspendedCalls("the interpreter in a frame", () => browserHost({ isolation: "interpreter" }));
