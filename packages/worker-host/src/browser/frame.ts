/**
 * The script of an isolate's frame. It starts one worker, hands it the port, and says that its process is alive; the worker ends with the frame.
 * Code of a tool never runs here, and the worker's only message to the frame is its first, before a tool is loaded.
 */
import type { FrameHello, FrameMessage, PageMessage } from "./frame-message.ts";
import { trusted } from "./trusted-types.ts";

const { port1: toPage, port2: pagePort } = new MessageChannel();
const say = (message: FrameMessage): void => toPage.postMessage(message);

/** A policy that only reports (CSP 3, 5.1) blocks nothing. */
const onBlocked = ({ disposition, effectiveDirective }: SecurityPolicyViolationEvent): void => {
  if (disposition === "enforce") say({ type: "blocked", directive: effectiveDirective });
};
function start(script: string, ports: readonly MessagePort[]): void {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(trusted().createScriptURL(url));
  worker.onerror = ({ message }) => say({ type: "failed", reason: message || "the browser did not run its script" });
  worker.onmessage = () => {
    worker.onmessage = worker.onerror = null;
    URL.revokeObjectURL(url);
    // Firefox tells the frame of what its worker tries as well; from here on that is the tool's.
    removeEventListener("securitypolicyviolation", onBlocked);
    say({ type: "started" });
  };
  worker.postMessage(null, [...ports]);
}

/** The page runs this very text as a probe, because its policy can allow it by its digest: there it says that it ran, and does nothing. */
const own = document.currentScript;
if (own !== null && "probe" in own.dataset) own.dataset["ran"] = "";
else {
  addEventListener("securitypolicyviolation", onBlocked);
  toPage.onmessage = ({ data, ports }: MessageEvent<PageMessage>) => {
    if (data.type === "ping") say({ type: "pong" });
    else start(data.script, ports);
  };
  const hello: FrameHello = { type: "up", key: own?.dataset["key"] ?? "" };
  // The frame has no origin and cannot name the page's.
  parent.postMessage(hello, "*", [pagePort]);
}
