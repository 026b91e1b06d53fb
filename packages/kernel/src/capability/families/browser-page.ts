import { defineFamily } from "../define-family.ts";
import type { Family } from "../family.ts";
import { count, isAmount, orAbsent } from "../fields.ts";
import { readUrl, urlPlace } from "../net-request.ts";
import {
  coversWeb,
  describeWeb,
  isNarrowWeb,
  narrowestWeb,
  webConditions,
  webFault,
  webFields,
  type WebGrant,
  type WebNeed,
  webNeed,
  webTarget,
} from "../web-place.ts";

declare module "../capability.ts" {
  interface CapabilityTypes {
    "browser.page": PageCapability;
  }
  interface EffectTypes {
    "browser.page": true;
  }
  interface NeedTypes {
    "browser.page": PageNeed;
  }
}

/** The hosts and paths that a page may reach, for each request of every part of the page. */
export interface PageCapability extends WebGrant {
  readonly kind: "browser.page";
  /** Default: GET, HEAD and OPTIONS. `WEBSOCKET` stands for the opening of a WebSocket. */
  readonly methods?: readonly string[];
  /** Documents of one page: the first one, redirects, frames, and each further one. */
  readonly navigations?: number;
  /** Requests in one call that are charged to this capability. */
  readonly requests?: number;
  /** Decompressed response bytes and request bytes of those requests. */
  readonly bytes?: number;
}

interface PageNeed extends WebNeed {
  readonly kind: "browser.page";
  /** For a document: how many the page has with this one. */
  readonly navigation?: number;
}

/** None of them asks a server for a change (RFC 9110, 9.2.1); a page asks with OPTIONS before a request to another origin. */
const defaultMethods = ["GET", "HEAD", "OPTIONS"];

/** Pages in a browser of the host, whose scripts run. */
export const browserPage: Family = /* @__PURE__ */ pageFamily();

function pageFamily(): Family {
  const kind = "browser.page";
  return defineFamily<PageCapability, PageNeed>({
    kind,
    title: "Opens pages in a browser",
    effect: "changes",
    fields: { ...webFields(), navigations: count, requests: count, bytes: count },
    need: { ...webNeed, navigation: orAbsent(isAmount) },
    covers: (capability) => coversWeb(capability, defaultMethods),
    describe: describeWeb,
    target: webTarget,
    notPlain: webFault,
    narrowest(need) {
      const place = narrowestWeb(need);
      return place && { kind, ...place, ...(need.navigation !== undefined && { navigations: need.navigation }) };
    },
    conditions: webConditions(),
    sample: ({ host = "example.com", method = "GET", path = "/" }) => ({ kind, method, host, port: 443, path }),
    targetArguments: {
      required: ["url"],
      needs({ url: text }) {
        const url = readUrl(text);
        // Whether the name is public is for the broker to say, at the gate.
        if (url.ok) return [{ kind, method: "GET", ...urlPlace(url.value), isPublic: true }];
        return `${url.error.message} ${url.error.hint}`.trim();
      },
    },
    destination: (need) => need,
    isNarrow: isNarrowWeb,
    budget: ({ requests, bytes }) => ({ requests, bytes }),
    limit: ({ navigations }) => navigations,
    size: ({ navigation }) => navigation,
  });
}
