import type { BrokerReply, CapabilityRequest } from "@keyhole/kernel";
import { filesBroker } from "@keyhole/worker-host/brokers/files";
import { expect, it } from "vitest";
import { openSession } from "../brokers/session.ts";

type Store = Parameters<typeof filesBroker>[0];

const prefixes = [
  "",
  "",
  "",
  "/",
  "./",
  "../",
  "~/",
  "C:\\",
  "C:",
  "\\\\?\\",
  "\\\\host\\share\\",
  "//host/",
  "file:///",
  "\u0000",
  "\ufeff",
  " ",
];
const separators = [
  "/",
  "/",
  "/",
  "/",
  "//",
  "/./",
  "\\",
  "%2f",
  "%5c",
  "\u2215",
  "\uff0f",
  "\u2044",
  "/\u200b/",
  ";/",
];
const segments = [
  "a",
  "b.txt",
  "secret.txt",
  "..",
  "..",
  "..",
  ".",
  "",
  "...",
  "....",
  "..;",
  ". .",
  ".. ",
  " ..",
  "..\t",
  "..\u0000",
  "..\u200b",
  "\u202e..",
  "%2e%2e",
  "%2E.",
  "%252e%252e",
  "..%00",
  "..%c0%af",
  "\u2024\u2024",
  "\uff0e\uff0e",
  "\u2025",
  "..\r",
  "..\n",
  "~",
  "~root",
  "$HOME",
  "*",
  "**",
  "?",
  "con",
  "CON",
  "nul.txt",
  "Aux",
  "prn.a.b",
  "com1",
  "LPT9.log",
  "COM\u00b9",
  "conin$",
  "nul ",
  "con.",
  "a.",
  "a ",
  " a",
  "a:b",
  "a::$DATA",
  "C:",
  "a\u0301",
  "\u00e1",
  "\u212b",
  "\u1e9b\u0323",
  "\ud800",
  "\udc00x",
  "x\udbff",
  "\u{1f511}",
  "\u202e",
  "\u2066a",
  "\u200fb",
  "\ufeffc",
  "\u0085",
  "\u2028",
  "x".repeat(255),
  "x".repeat(256),
  "\u00e9".repeat(127),
  "\u00e9".repeat(128),
  "PROGRA~1",
  "a\\..\\b",
  "proc",
  "self",
  "root",
  ".git",
  ".htaccess",
  "|cat",
  "`id`",
  "$(id)",
];

/** Rows of the grammar, the same for every run: what a fixed generator draws (Lehmer, 31 bits). */
export function grammarPaths(count: number, seed = 20_260_101): readonly string[] {
  let state = seed;
  const draw = <T>(from: readonly T[]): T => {
    state = (state * 48_271) % 2_147_483_647;
    return from[state % from.length]!;
  };
  const paths = new Set<string>();
  while (paths.size < count) {
    let path = draw(prefixes) + draw(segments);
    for (let more = draw([0, 1, 1, 2, 2, 3, 5]); more > 0; more--) path += draw(separators) + draw(segments);
    paths.add(path);
  }
  return [...paths];
}

/** Said a second time, and by other means than the code: what a path may be made of. */
export function mayPass(path: string): boolean {
  if (!/^[^\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\\:]*$/u.test(path))
    return false;
  const isShort = (text: string, bytes: number): boolean => new TextEncoder().encode(text).length <= bytes;
  if (path.normalize("NFC") !== path || !isShort(path, 1_024)) return false;
  return path
    .split("/")
    .every(
      (segment) =>
        /^(?! )(?!\.{1,2}$).*[^. ]$/su.test(segment) &&
        isShort(segment, 255) &&
        !/^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d\u00b9\u00b2\u00b3])$/i.test(segment.split(".")[0]!) &&
        !isShortName(segment),
    );
}

function isShortName(segment: string): boolean {
  const [name = "", extension = "", ...more] = segment.split(".");
  const [, digits] = /[^]~([0-9]+)$/.exec(name) ?? [];
  return digits !== undefined && name.length <= 8 && extension.length <= 3 && more.length === 0;
}

const operations = {
  read: "fs.read",
  list: "fs.read",
  stat: "fs.read",
  write: "fs.write",
  remove: "fs.write",
} as const;

function requestOf(operation: keyof typeof operations, path: string): CapabilityRequest {
  const body = operation === "write" ? { body: new TextEncoder().encode("written") } : {};
  return { kind: operations[operation], operation, arguments: { path }, ...body };
}

/**
 * Each path of the grammar, with every operation: what is not in the one form is refused by all of them, and what is in it names one file, below the root.
 *
 * @param afterWrite sees each path that took a write
 */
export function describeGrammar(name: string, open: () => Store, afterWrite: (path: string) => void = () => {}): void {
  it(`takes no path of the grammar that is not in its one form, on ${name}`, async () => {
    const paths = grammarPaths(1_000);
    const broker = filesBroker(open());
    const served: string[] = [];
    for (const path of paths) {
      for (const operation of ["write", "read", "stat", "list", "remove"] as const) {
        const reply: BrokerReply = await broker.serve(requestOf(operation, path), openSession());
        if (!mayPass(path)) expect([path, operation, reply.ok], JSON.stringify(path)).toEqual([path, operation, false]);
        if (operation === "write" && reply.ok) {
          served.push(path);
          afterWrite(path);
        }
        if (operation === "read" && reply.ok) expect(new TextDecoder().decode(reply.body)).toBe("written");
      }
    }
    // The grammar makes some of both kinds, or the test says nothing.
    expect(served.length).toBeGreaterThan(10);
    expect(paths.filter((path) => !mayPass(path)).length).toBeGreaterThan(500);
    expect(await broker.serve(requestOf("list", ""), openSession())).toMatchObject({ ok: true });
  });
}
