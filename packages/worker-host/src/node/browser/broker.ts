import { type Broker, IsolateFailure, type IsolateHost } from "@keyhole/kernel";
import { browserPage } from "@keyhole/kernel/families";
import { knownOptions } from "@keyhole/kernel/foreign";
import { checkedBroker } from "../../brokers/checked.ts";
import { refused } from "../../brokers/fault.ts";
import { needOf } from "../../brokers/net/request.ts";
import { Places } from "../../brokers/places.ts";
import { findChromium, type Sandbox } from "./chromium.ts";
import type { PageNetwork } from "./dial.ts";
import { readVisit } from "./request.ts";
import { visit } from "./visit.ts";

export interface BrowserBrokerOptions {
  /** Absolute path of Chromium or Chrome. Default: the first usual place that has one. */
  readonly executable?: string;
  /**
   * Default `required`: without Chromium's sandbox the broker opens no page. `off` starts Chromium with `--no-sandbox`: a page that breaks out of its process then has the
   * rights of the browser's user.
   */
  readonly sandbox?: Sandbox;
  /** Browsers at the same time. A caller opens one while it has fewer than are free; others wait, and callers take turns. Default 2. */
  readonly browsers?: number;
  /** Default: the network of this machine. */
  readonly network?: PageNetwork;
}

const install = "Install Chromium (Debian: `apt-get install chromium`), or name it in `executable`.";

/**
 * Serves `browser.page`. `open` takes
 * `{ url, waitMs?, width?, height?, textLength?, extract?, screenshot? }` and answers
 * `{ url, status, title, text, textLength, extracted, isLoaded, navigations, refusals, refused }`
 * with the picture as body, as PNG. Each page has its own Chromium with an empty profile. Its only
 * network access is a proxy that checks the grant for each request.
 */
export function browserBroker(options: BrowserBrokerOptions = {}): Broker {
  const {
    executable,
    sandbox = "required",
    browsers = 2,
    network = {},
  } = knownOptions(options, { executable: true, sandbox: true, browsers: 1, network: true }, "browserBroker");
  const places = new Places({ size: browsers, subject: "pages" });
  return checkedBroker({
    families: [browserPage],
    read: readVisit,
    needsOf: ({ url }) => [needOf("browser.page", { url, method: "GET", headers: [] })],
    async serve(wanted, session) {
      const found = findChromium(executable);
      if (found === undefined) return refused("UNAVAILABLE", "This host has no browser.", "Use another tool.", install);
      return places.serve(session, () => visit(wanted, session, { executable: found, sandbox, network }));
    },
  });
}

/**
 * Adds a browser to a host: the broker for `browser.page`. Where the machine has no browser, a tool that declares the kind ends with `UNSUPPORTED_HOST`.
 *
 * @example
 * const kernel = await createKernel({ host: withBrowser(nodeHost()), policy });
 */
export function withBrowser(host: IsolateHost, options: BrowserBrokerOptions = {}): IsolateHost {
  return {
    ...host,
    brokers: [...host.brokers, browserBroker(options)],
    async open(tool, isWanted) {
      const needsBrowser = tool.manifest.capabilities.some(
        ({ kind, optional }) => kind === "browser.page" && !optional,
      );
      if (needsBrowser && findChromium(options.executable) === undefined)
        throw new IsolateFailure(
          "UNSUPPORTED_HOST",
          `${tool.id} needs a browser, and this machine has none.`,
          { hint: "Use another tool.", operatorHint: install },
          "host",
        );
      return host.open(tool, isWanted);
    },
  };
}
