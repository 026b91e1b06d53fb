// Runs in the page; the figures go to the process that opened it.
import { browserHost } from "@keyhole/worker-host/browser";
import { codeModeFigures } from "./ratio.ts";

Object.assign(globalThis, { figures: await codeModeFigures(() => browserHost()) });
