/**
 * Yields to the event loop. It uses a message where the platform has them: in browsers a repeated
 * timer waits at least four milliseconds (HTML, section 8.7). That is a multiple of the work
 * between two yields.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof MessageChannel === "undefined") {
      setTimeout(resolve, 0);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
