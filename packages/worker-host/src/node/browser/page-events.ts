import type { CdpParams } from "./cdp.ts";
import { memberOf, textOf } from "./values.ts";

type Send = (method: string, params?: CdpParams, sessionId?: string) => void;

/** A refresh within this time belongs to the load of its page. */
const refreshSeconds = 1;

/** The events that the browser reports. */
export class PageEvents {
  send: Send = () => {};
  target = "";
  /** Whether the page has ordered a refresh since it loaded. */
  isLeaving = false;
  /** The document that the page is, as the browser got it: a script can show another address. */
  document: { readonly url: string; readonly isUnreachable: boolean } | undefined;
  #onLoad: (() => void) | undefined;

  /** Resolves when the page has loaded, the first time from now on. */
  loaded(): Promise<void> {
    return new Promise((resolve) => {
      this.#onLoad = resolve;
    });
  }

  take(method: string, params: CdpParams, sessionId: string | undefined): void {
    if (method === "Page.loadEventFired") this.#takeLoad();
    else if (method === "Page.frameScheduledNavigation") this.#takeRefresh(params);
    else if (method === "Page.frameNavigated") this.#takeDocument(memberOf(params, "frame"));
    else if (method === "Page.javascriptDialogOpening")
      this.send("Page.handleJavaScriptDialog", { accept: false }, sessionId);
    else if (method === "Target.targetCreated") this.#closeOther(memberOf(params, "targetInfo"));
  }

  /** The main frame has the id of its target. */
  #takeRefresh(params: CdpParams): void {
    const isSoon = Number(memberOf(params, "delay")) <= refreshSeconds;
    if (isSoon && memberOf(params, "frameId") === this.target) this.isLeaving = true;
  }

  #takeDocument(frame: unknown): void {
    if (memberOf(frame, "id") !== this.target) return;
    const unreachable = memberOf(frame, "unreachableUrl");
    this.document = {
      url: textOf(unreachable ?? memberOf(frame, "url"), 9_000),
      isUnreachable: unreachable !== undefined,
    };
    // The browser's page about one that it did not get never loads.
    if (unreachable !== undefined) this.#takeLoad();
  }

  #takeLoad(): void {
    this.isLeaving = false;
    this.#onLoad?.();
  }

  /** A window that the page opened, or that the browser did. */
  #closeOther(info: unknown): void {
    const [type, targetId] = [memberOf(info, "type"), memberOf(info, "targetId")];
    if (this.target !== "" && type === "page" && targetId !== this.target)
      this.send("Target.closeTarget", { targetId });
  }
}
