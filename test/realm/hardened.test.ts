import { nodeHost } from "@keyhole/worker-host/node";
import { interpreterHost } from "@keyhole/worker-host/wasm";
import { testEngine } from "../wasm/engine.ts";
import { describeImports } from "./describe-imports.ts";
import { describeLeaks } from "./describe-leaks.ts";
import { describeRealm, walkHash } from "./describe-realm.ts";
import { describeWakes, wakesHash } from "./describe-wakes.ts";

const secrets = [["where this program is", /keyhole-source|node_modules|file:/]] as const;

describeImports("the Node host", async () => nodeHost());
describeImports("the interpreter's host", async () => interpreterHost({ engine: await testEngine() }));
describeLeaks("the interpreter", async () => nodeHost());
describeRealm("I", async () => nodeHost(), secrets);
describeRealm("N", async () => nodeHost({ trusted: [walkHash] }), secrets);
describeWakes("I", async () => nodeHost());
describeWakes("N", async () => nodeHost({ trusted: [wakesHash] }));
