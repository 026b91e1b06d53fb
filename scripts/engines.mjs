import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findChromium } from "./chromium.mjs";

const firefoxPlaces = ["/usr/bin/firefox-esr", "/usr/bin/firefox", "/Applications/Firefox.app/Contents/MacOS/firefox"];

const miniBrowsers = ["x86_64-linux-gnu", "aarch64-linux-gnu"].flatMap((machine) =>
  ["4.1", "4.0"].map((version) => `/usr/lib/${machine}/webkit2gtk-${version}/MiniBrowser`),
);

/**
 * The path of the Firefox that tests drive: `KEYHOLE_FIREFOX` where set, otherwise the first usual place that exists.
 *
 * @returns {string | undefined}
 */
export function findFirefox() {
  const chosen = process.env["KEYHOLE_FIREFOX"];
  if (chosen) return existsSync(chosen) ? chosen : undefined;
  return firefoxPlaces.find((place) => existsSync(place));
}

/**
 * What it takes to drive WebKitGTK: its driver, the small browser that comes with it, and a screen that nobody looks at.
 *
 * @returns {{ driver: string, browser: string, screen: string } | undefined}
 */
export function findWebkit() {
  const [driver, screen] = ["/usr/bin/WebKitWebDriver", "/usr/bin/Xvfb"];
  const browser = miniBrowsers.find((place) => existsSync(place));
  return browser !== undefined && existsSync(driver) && existsSync(screen) ? { driver, browser, screen } : undefined;
}

/**
 * @typedef {object} Part
 * @property {string} title
 * @property {readonly string[]} packages Debian's
 * @property {boolean} needed Only one is: without the others `npm test` says so, and runs.
 * @property {() => boolean} isHere
 *
 * @typedef {Part & { readonly name: "chromium" | "firefox" | "webkit" }} Engine named as its project in vitest
 */

/** @param {string} command */
function isOnPath(command) {
  return (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, command)));
}

/** The path of NATS's server, which Debian puts where only root looks. @returns {string | undefined} */
export function findNatsServer() {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  return folders.map((folder) => join(folder, "nats-server")).find((path) => existsSync(path));
}

/** What tests use beside engines. @type {readonly Part[]} */
export const testTools = [
  {
    title: "WebAssembly's own test suite",
    packages: ["wabt"],
    needed: false,
    isHere: () => isOnPath("wast2json"),
  },
  {
    title: "the compiler of the examples in C",
    packages: ["clang", "lld", "wasi-libc", "libclang-rt-dev-wasm32"],
    needed: false,
    isHere: () => isOnPath("clang") && isOnPath("wasm-ld") && existsSync("/usr/include/wasm32-wasi"),
  },
  {
    title: "NATS's server",
    packages: ["nats-server"],
    needed: false,
    isHere: () => findNatsServer() !== undefined,
  },
];

/** The browser engines that tests run in. @type {readonly Engine[]} */
export const engines = [
  {
    name: "chromium",
    title: "Chromium",
    packages: ["chromium"],
    needed: true,
    isHere: () => findChromium() !== undefined,
  },
  {
    name: "firefox",
    title: "Firefox",
    packages: ["firefox-esr"],
    needed: false,
    isHere: () => findFirefox() !== undefined,
  },
  {
    name: "webkit",
    title: "WebKitGTK",
    packages: ["webkit2gtk-driver", "xvfb"],
    needed: false,
    isHere: () => findWebkit() !== undefined,
  },
];
