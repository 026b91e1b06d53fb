/**
 * Lets everybody else have a turn of the event loop. By a message where the platform has them: in browsers a timer that follows some others waits at least four
 * milliseconds (HTML, section 8.7), which is a multiple of the work between two turns.
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
