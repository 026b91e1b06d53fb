import { nodeHost } from "@keyhole/worker-host/node";
import { describeLeaks } from "./describe-leaks.ts";
import { describeRealm, walkHash } from "./describe-realm.ts";

const secrets = [["where this program is", /keyhole-source|node_modules|file:/]] as const;

describeLeaks("the interpreter", async () => nodeHost());
describeRealm("I", async () => nodeHost(), secrets);
describeRealm("N", async () => nodeHost({ trusted: [walkHash] }), secrets);
