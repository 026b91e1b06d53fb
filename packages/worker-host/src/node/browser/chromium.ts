import { type ChildProcess, spawn } from "node:child_process";
import { randomInt, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { chown, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { killAll } from "../processes.ts";
import { type CdpListener, CdpPipe } from "./cdp.ts";
import type { PageProxy } from "./proxy.ts";

/** The browser itself before its starter, which adds what a system's settings say. */
const places = [
  "/usr/lib/chromium/chromium",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/opt/google/chrome/chrome",
  "/usr/bin/google-chrome-stable",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** The path of this machine's Chromium, or `undefined` where there is none. */
export function findChromium(executable?: string): string | undefined {
  return (executable === undefined ? places : [executable]).find((each) => existsSync(each));
}

/**
 * - `required`: Chromium's own sandbox, or no page. As root each browser runs as a user of its own, who owns nothing else.
 * - `off`: none. What breaks out of the page's process then has the rights of the browser's user.
 */
export type Sandbox = "required" | "off";

export interface Chromium {
  readonly cdp: CdpPipe;
  /** Kills everything that the browser started, and removes its folder. */
  close(): Promise<void>;
}

export interface ChromiumOptions {
  readonly executable: string;
  readonly sandbox: Sandbox;
  readonly proxy: PageProxy;
  readonly listener: CdpListener;
  /** The browser has ended, or breaks the protocol. */
  readonly onFault: (reason: string) => void;
}

/** Users that systemd gives to services while they run: nothing on disk belongs to them. */
const [firstUser, lastUser] = [61_184, 65_519];

/** Starts a browser with an empty profile, an empty environment and one way out. */
export async function startChromium({
  executable,
  sandbox,
  proxy,
  listener,
  onFault,
}: ChromiumOptions): Promise<Chromium> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), "keyhole-browser-"));
  const user =
    process.platform === "linux" && process.getuid?.() === 0 ? randomInt(firstUser, lastUser + 1) : undefined;
  if (user !== undefined) await chown(folder, user, user);
  const mark = `KEYHOLE_PROCESS=${randomUUID()}`;
  const child = spawn(executable, argumentsOf(folder, proxy, sandbox), {
    cwd: folder,
    env: environmentOf(folder, mark),
    // A group of its own, which one signal kills.
    detached: true,
    shell: false,
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
    ...(user !== undefined && { uid: user, gid: user }),
  });
  const said = lastWords(child);
  const ended = new Promise<void>((resolve) => {
    child.on("error", (error: NodeJS.ErrnoException) => {
      onFault(`the browser does not start: ${error.code ?? error.name}`);
      resolve();
    });
    child.on("exit", () => {
      onFault(/No usable sandbox|namespace|sandbox_linux/i.test(said()) ? noSandbox : "the browser has ended");
      resolve();
    });
  });
  const [, , , out, incoming] = child.stdio;
  const cdp = new CdpPipe(out as Writable, incoming as Readable, listener, onFault);
  return {
    cdp,
    async close() {
      cdp.end("the visit is over");
      if (child.pid !== undefined) {
        await killAll(child.pid, mark);
        await ended;
      }
      for (const stream of child.stdio) stream?.destroy();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The fault of {@link startChromium} on a machine without a sandbox. */
export const noSandbox = "this machine gives Chromium no sandbox";

function argumentsOf(folder: string, { port, keyHash, greeting }: PageProxy, sandbox: Sandbox): readonly string[] {
  return [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-startup-window",
    `--user-data-dir=${join(folder, "profile")}`,
    // The one way out. Loopback is no exception to it, and the browser resolves no name beside it.
    `--proxy-server=http://127.0.0.1:${port}`,
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    `--ignore-certificate-errors-spki-list=${keyHash}`,
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    // Nothing of Chromium's own. Its questions about accounts have no switch: they end at the proxy, beside the page's requests.
    ...["gaia", "google", "google-apis", "lso"].map((service) => `--${service}-url=${greeting}`),
    "--allow-browser-signin=false",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-print-preview",
    "--disable-sync",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-features=MediaRouter,OptimizationHints,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater,WebUSB,DialMediaRouteProvider",
    // Nothing that asks a person, opens a window, or uses a device.
    "--block-new-web-contents",
    "--deny-permission-prompts",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-notifications",
    "--hide-scrollbars",
    "--mute-audio",
    "--noerrdialogs",
    "--js-flags=--max-old-space-size=512",
    ...(sandbox === "off" ? ["--no-sandbox"] : []),
  ];
}

function environmentOf(folder: string, mark: string): Record<string, string> {
  const [name = "", value = ""] = mark.split("=");
  return {
    HOME: folder,
    TMPDIR: folder,
    PATH: "/usr/bin:/bin",
    LANG: "C.UTF-8",
    TZ: "UTC",
    DBUS_SESSION_BUS_ADDRESS: "disabled:",
    DBUS_SYSTEM_BUS_ADDRESS: "disabled:",
    [name]: value,
  };
}

/** The end of what it says on stderr: a browser that does not start says there why. */
function lastWords(child: ChildProcess): () => string {
  let text = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    text = (text + chunk.toString("latin1")).slice(-8_192);
  });
  child.stderr?.on("error", () => {});
  return () => text;
}
