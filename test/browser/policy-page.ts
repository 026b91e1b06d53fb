/** The script of a page under test: opens a host, and tells the test's page how that went. */
import { IsolateFailure } from "@keyhole/kernel";
import { browserHost, domFrameContainer } from "@keyhole/worker-host/browser";

async function open(): Promise<object> {
  try {
    const isolation =
      new URL(import.meta.url).searchParams.get("isolation") === "interpreter" ? "interpreter" : "worker";
    const host = await browserHost({ container: domFrameContainer({ nonce: "n0nce" }), isolation });
    await host.close();
    return { opened: host.name };
  } catch (error) {
    if (!(error instanceof IsolateFailure)) throw error;
    const { code, message, hints } = error;
    return { code, message, ...hints, left: document.querySelectorAll("iframe").length };
  }
}

parent.postMessage(await open(), "*");
