// The first import: on an older Node it throws before any other module does.
import "../refuse-older-node.ts";

export { browserBroker, type BrowserBrokerOptions, withBrowser } from "./broker.ts";
export type { DialedPlace, PageNetwork } from "./dial.ts";
export { browser, browserScreenshot } from "./packages.ts";
