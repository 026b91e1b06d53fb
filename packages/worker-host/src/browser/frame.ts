/**
 * The script of an isolate's frame. It starts one worker, hands it the port, and says that its process is alive; the worker ends with the frame.
 * Code of a tool never runs here, and the worker's only message to the frame is its first, before a tool is loaded.
 */
import type { FrameMessage, PageMessage } from "./frame-message.ts";
import { trusted } from "./trusted-types.ts";

const say = (message: FrameMessage): void => parent.postMessage(message, "*"); // The frame has no origin and cannot name the page's.

const onBlocked = ({ effectiveDirective }: SecurityPolicyViolationEvent): void =>
  say({ type: "blocked", directive: effectiveDirective });
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
  addEventListener("message", ({ source, data, ports }: MessageEvent<PageMessage>) => {
    if (source !== parent) return;
    if (data.type === "ping") say({ type: "pong" });
    else start(data.script, ports);
  });
  say({ type: "up" });
}
