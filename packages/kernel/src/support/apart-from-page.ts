/** Of the options of `fetch`: what would give a request something of the page in which it is made. */
export interface ApartFromPage {
  readonly credentials?: "omit";
  readonly referrerPolicy?: "no-referrer";
  readonly cache?: "no-store";
  readonly mode?: "cors";
}

/**
 * Options for each `fetch` of a kernel's program. In a page the platform adds the page's cookies, address and cache to a
 * request. No grant covers these. workerd has no page, and refuses the options.
 */
export const apartFromPage: ApartFromPage =
  "credentials" in Request.prototype
    ? { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", mode: "cors" }
    : {};
