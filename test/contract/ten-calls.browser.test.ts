import { browserHost } from "@keyhole/worker-host/browser";
import { describeTenCalls, packages } from "./ten-calls.ts";

describeTenCalls("browser", packages, () => browserHost());
