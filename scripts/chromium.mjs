import { existsSync } from "node:fs";

const places = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/**
 * The path of the Chromium that tests drive: `KEYHOLE_CHROMIUM` where set, otherwise the first usual place that exists.
 *
 * @returns {string | undefined}
 */
export function findChromium() {
  const chosen = process.env["KEYHOLE_CHROMIUM"];
  if (chosen) return existsSync(chosen) ? chosen : undefined;
  return places.find((place) => existsSync(place));
}

/** Quiet on the network, and usable as root in a container. */
export const chromiumArgs = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
