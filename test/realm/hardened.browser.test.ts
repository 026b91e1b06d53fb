import { browserHost, domFrameContainer } from "@keyhole/worker-host/browser";
import { server } from "vitest/browser";
import { describeImports } from "./describe-imports.ts";
import { describeLeaks } from "./describe-leaks.ts";
import { describeRealm } from "./describe-realm.ts";
import { describeWakes } from "./describe-wakes.ts";
import type { Realm } from "./list.ts";

const letters: Readonly<Record<string, Realm>> = { chromium: "C", firefox: "F", webkit: "W" };

describeImports("the browser host", () => browserHost());
describeLeaks("a frame", () => browserHost());
describeRealm(
  letters[server.browser]!,
  () => browserHost({ container: domFrameContainer({ nonce: "n0nce-of-the-page" }) }),
  [
    ["the nonce of the page", /n0nce/],
    ["the address of the page", new RegExp(`${location.port}|127\\.0\\.0\\.1|localhost`)],
    // Firefox writes the module's address, and nothing else, into each error that it throws.
    ["the address of a module", server.browser === "firefox" ? /[^]blob:/ : /blob:/],
    ["the machine's zone", /New_York|Eastern|GMT-0[45]/],
    ["the machine's name for itself", /Mozilla|AppleWebKit|Linux/],
  ],
);
describeWakes(letters[server.browser]!, () => browserHost());
