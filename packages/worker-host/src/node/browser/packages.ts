import type { ToolPackage } from "@keyhole/kernel";
import browserPackage from "keyhole:../../tools/browser.ts";
import browserScreenshotPackage from "keyhole:../../tools/browser-screenshot.ts";

/** Reads a page: title, text, and what CSS selectors find. */
export const browser: ToolPackage = browserPackage;
/** Takes a picture of a page, as PNG. */
export const browserScreenshot: ToolPackage = browserScreenshotPackage;
