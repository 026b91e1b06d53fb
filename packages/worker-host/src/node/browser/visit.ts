import { type BrokerError, type BrokerReply, type BrokerSession, type CallSecrets, parseUrl } from "@keyhole/kernel";
import { cancelled, refused } from "../../brokers/fault.ts";
import { CdpFailure, type CdpParams } from "./cdp.ts";
import { type Chromium, noSandbox, type Sandbox, startChromium } from "./chromium.ts";
import { boundsFor, chosenPart, contentOf, emptyContent } from "./content.ts";
import { dialer, type PageNetwork } from "./dial.ts";
import { PageEvents } from "./page-events.ts";
import { readingScript } from "./in-page.ts";
import { openProxy, type PageProxy } from "./proxy.ts";
import type { Visit } from "./request.ts";
import { PageRules } from "./rules.ts";
import { memberOf, textOf } from "./values.ts";

export interface VisitOptions {
  readonly executable: string;
  readonly sandbox: Sandbox;
  readonly network: PageNetwork;
}

/** Rows of pixels in a picture of a whole page. */
const maxHeight = 4_096;
/** The wait for one answer of a page beyond the wait for its load: it can keep its process busy without end. */
const answerMs = 10_000;

/** Why a visit ended before it was done. */
class VisitOver extends Error {
  readonly reply: BrokerReply;

  constructor(reply: BrokerReply) {
    super("the visit is over");
    this.reply = reply;
  }
}

/** Opens one page in a browser of its own. When this resolves, no process and no file of the browser stays. */
export async function visit(wanted: Visit, session: BrokerSession, options: VisitOptions): Promise<BrokerReply> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  over.catch(() => {});
  const stop = new AbortController();
  const end = (reply: BrokerReply): void => {
    stop.abort();
    reject(new VisitOver(reply));
  };
  const onAbort = (): void => end(cancelled);
  session.signal.addEventListener("abort", onAbort, { once: true });
  const rules = new PageRules(session, (error) => end({ ok: false, error }));
  let proxy: PageProxy | undefined;
  let browser: Chromium | undefined;
  try {
    if (session.signal.aborted) return cancelled;
    proxy = await openProxy(rules, dialer(options.network, stop.signal));
    const events = new PageEvents();
    browser = await startChromium({
      ...options,
      proxy,
      listener: (method, params, sessionId) => events.take(method, params, sessionId),
      onFault: (reason) => end(faultOf(reason)),
    });
    events.send = (...command) => void browser?.cdp.send(...command).catch(() => {});
    return await Promise.race([over, drive(wanted, browser, proxy, events, rules, session.secrets)]);
  } catch (error) {
    if (error instanceof VisitOver) return error.reply;
    // The cause of the browser's failure stands first.
    const reason = await Promise.race([over, Promise.resolve(error)]).catch((each: unknown) => each);
    if (reason instanceof VisitOver) return reason.reply;
    return error instanceof CdpFailure ? faultOf(error.message) : faultOf("the browser does not work");
  } finally {
    session.signal.removeEventListener("abort", onAbort);
    stop.abort();
    await browser?.close();
    proxy?.close();
  }
}

/** Refreshes that are followed. A page could lead to itself without end. */
const maxRefreshes = 5;

async function drive(
  wanted: Visit,
  { cdp }: Chromium,
  proxy: PageProxy,
  events: PageEvents,
  rules: PageRules,
  secrets: CallSecrets,
): Promise<BrokerReply> {
  const { waitMs, width, height } = wanted;
  const page = await openPage(cdp, events, { width, height });
  await cdp.send("Browser.setDownloadBehavior", { behavior: "deny" });
  await cdp.send("Target.setDiscoverTargets", { discover: true });
  await cdp.send("Page.enable", {}, page);
  await introduce(cdp, proxy, page, events.loaded());
  await cdp.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false }, page);
  const loading = events.loaded();
  const navigated = cdp.send("Page.navigate", { url: wanted.url.href }, page);
  const isLoaded = await within(
    navigated.then(() => loading).then(() => settled(cdp, page, events)),
    waitMs + 1,
  );
  // Answers to what the browser told before.
  await answer(cdp.send("Page.getFrameTree", {}, page));
  const { url = "", isUnreachable = false } = events.document ?? {};
  const document = rules.documentAt(url.startsWith("http") ? url : wanted.url.href);
  if (typeof document === "object") return { ok: false, error: shownAt(document, wanted.url, url) };
  if (document === undefined || url === "about:blank")
    return refused(
      "UNAVAILABLE",
      `${wanted.url.host} gave no page within ${waitMs} ms.`,
      "Give `waitMs` more, or open another page.",
    );
  if (isUnreachable && document < 400)
    return refused("UNAVAILABLE", `The answer of ${parseUrl(url)?.host ?? ""} broke off.`, "Try again later.");
  const isSearching = secrets.isSearching();
  const chosen = isSearching ? chosenPart(wanted) : undefined;
  if (chosen !== undefined)
    return refused("CAPABILITY_DENIED", `A tool cannot request a part of a page of ${wanted.url.host}: ${chosen}.`);
  // The browser's own words about an answer without a body are no part of a page.
  const read = isUnreachable
    ? emptyContent(url, wanted)
    : await readContent(cdp, page, readingScript(boundsFor(wanted, isSearching), wanted.extract));
  const picture = await screenshot(cdp, page, wanted, Number(memberOf(read, "height")));
  const content = await contentOf(read, wanted, secrets, isSearching);
  if (!content.ok) return content;
  return {
    ok: true,
    value: {
      ...content.value,
      status: document,
      isLoaded: isLoaded === "done",
      navigations: rules.navigations,
      refusals: rules.refusals,
      refused: rules.refused.map((each) => ({ ...each })),
    },
    ...(picture && { body: picture }),
  };
}

/** The DevTools session of a new page. */
async function openPage(
  cdp: Chromium["cdp"],
  events: PageEvents,
  size: { readonly width: number; readonly height: number },
): Promise<string> {
  const created = await cdp.send("Target.createTarget", { url: "about:blank", ...size });
  const targetId = textOf(memberOf(created, "targetId"), 100);
  events.target = targetId;
  const attached = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
  return textOf(memberOf(attached, "sessionId"), 100);
}

/** Resolves when the page orders no other one, or has ordered too many. */
async function settled(cdp: Chromium["cdp"], page: string, events: PageEvents): Promise<void> {
  for (let left = maxRefreshes; left > 0; left--) {
    // A page that has loaded orders its refresh before it answers.
    await cdp.send("Page.getFrameTree", {}, page);
    if (!events.isLeaving) return;
    await events.loaded();
  }
}

/** Gives the browser its credentials once; it repeats them by itself, also for what is no page. Nothing else of the machine has them. */
async function introduce(
  cdp: Chromium["cdp"],
  { user, password, greeting, isGreeted }: PageProxy,
  page: string,
  loaded: Promise<void>,
): Promise<void> {
  const asked = cdp.once("Fetch.authRequired");
  const held = cdp.once("Fetch.requestPaused");
  await cdp.send("Fetch.enable", { handleAuthRequests: true, patterns: [{ urlPattern: "*" }] }, page);
  const greeted = cdp.send("Page.navigate", { url: greeting }, page);
  await cdp.send("Fetch.continueRequest", { requestId: memberOf(await held, "requestId") }, page);
  const authChallengeResponse = { response: "ProvideCredentials", username: user, password };
  await cdp.send(
    "Fetch.continueWithAuth",
    { requestId: memberOf(await asked, "requestId"), authChallengeResponse },
    page,
  );
  await greeted;
  await cdp.send("Fetch.disable", {}, page);
  await loaded;
  if (!isGreeted()) throw new CdpFailure("the browser does not use its proxy");
  await cdp.send("Page.resetNavigationHistory", {}, page);
}

/**
 * Reads the page in its own world, which ends when the page moves to another document. Then it
 * reads that document.
 */
async function readContent(cdp: Chromium["cdp"], page: string, expression: string, tries = 3): Promise<unknown> {
  const { frameTree } = await answer(cdp.send("Page.getFrameTree", {}, page));
  const frameId = memberOf(memberOf(frameTree, "frame"), "id");
  try {
    const world = await answer(cdp.send("Page.createIsolatedWorld", { frameId, worldName: "keyhole" }, page));
    const contextId = memberOf(world, "executionContextId");
    const how = { contextId, returnByValue: true, timeout: answerMs };
    return memberOf(
      memberOf(await answer(cdp.send("Runtime.evaluate", { expression, ...how }, page)), "result"),
      "value",
    );
  } catch (error) {
    if (tries === 1 || !(error instanceof CdpFailure) || !/context|navigated/i.test(error.message)) throw error;
    return readContent(cdp, page, expression, tries - 1);
  }
}

async function screenshot(
  cdp: Chromium["cdp"],
  page: string,
  { screenshot: kind, width, height }: Visit,
  pageHeight: number,
): Promise<Uint8Array | undefined> {
  if (kind === "none") return undefined;
  const rows = Math.min(maxHeight, Math.max(height, Number.isFinite(pageHeight) ? pageHeight : height));
  const whole = { captureBeyondViewport: true, clip: { x: 0, y: 0, width, height: rows, scale: 1 } };
  const taken = await answer(
    cdp.send("Page.captureScreenshot", { format: "png", ...(kind === "page" && whole) }, page),
  );
  const data = memberOf(taken, "data");
  return typeof data === "string" ? new Uint8Array(Buffer.from(data, "base64")) : undefined;
}

/** @throws {CdpFailure} */
async function answer(asked: Promise<CdpParams>): Promise<CdpParams> {
  const answered = await within(asked, answerMs);
  if (answered === "late") throw new CdpFailure("the page keeps its process busy");
  return asked;
}

async function within(work: Promise<unknown>, limitMs: number): Promise<"done" | "late"> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), limitMs);
  });
  return Promise.race([work.then(() => "done" as const), late]).finally(() => clearTimeout(timer));
}

function shownAt(error: BrokerError, wanted: URL, url: string): BrokerError {
  // The browser asks for a page of http over https first.
  const isSame = url.replace(/^https?:/, "").startsWith(wanted.href.replace(/^https?:/, ""));
  if (isSame) return error;
  return { ...error, message: `${wanted.host} led to another page, which the broker did not open: ${error.message}` };
}

function faultOf(reason: string): BrokerReply {
  if (reason === noSandbox)
    return refused(
      "UNAVAILABLE",
      "This host has no sandbox for a browser.",
      "Use another tool.",
      'Allow unprivileged user namespaces on this machine, or run where the machine allows them. `sandbox: "off"` does without, and pages then run unconfined.',
    );
  return refused(
    "UNAVAILABLE",
    `The browser cannot open the page: ${reason}.`,
    "Open another page, or try again later.",
  );
}
