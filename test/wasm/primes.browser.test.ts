import { browserHost } from "@keyhole/worker-host/browser";
import { describeExample } from "./primes.shared.ts";

describeExample(() => browserHost());
