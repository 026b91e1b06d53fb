import { nodeHost } from "@keyhole/worker-host/node";
import { describeExample } from "./primes.shared.ts";

describeExample(async () => nodeHost());
