import { type Attempt, type AttemptGroup, applies, type Platform, platforms } from "./attempt.ts";

/** What came of one attempt on one platform. */
export type Came = "held" | "ESCAPED" | "did not run";

const titles: Readonly<Record<Platform, string>> = {
  chromium: "Chromium",
  firefox: "Firefox",
  webkit: "WebKitGTK",
  workerd: "workerd",
  node: "Node threads",
};

/** The battery with its results as a page of the documentation. The same results give the same text. */
export function renderBattery(
  groups: readonly AttemptGroup[],
  cameOf: (platform: Platform, attempt: Attempt) => Came,
): string {
  const counts = platforms.map((platform) => countOn(groups, platform, cameOf));
  const total = groups.reduce((sum, { attempts }) => sum + attempts.length, 0);
  return `${[
    intro.replace("{total}", String(total)),
    row(["", ...platforms.map((platform) => titles[platform])]),
    row(["---", ...platforms.map(() => "---")]),
    row(["attempts", ...counts.map(({ tried }) => String(tried))]),
    row(["escapes", ...counts.map(({ escaped }) => String(escaped))]),
    ...groups.map((group) => section(group, cameOf)),
  ].join("\n")}\n`;
}

const intro = `# The hostile battery

{total} attempts to get out of an isolate, in every engine. \`npm run hostile\` runs each of them in an isolate of its own and writes this page.
\`npm test\` runs them in every engine that is installed, several in one isolate where that is enough; of forged messages it runs all in Chromium, workerd
and Node, and one of each class in Firefox and WebKitGTK. It fails when one is not held, or when this page does not list what the code holds.

A server on the side, the canary, counts what reaches it; a test proves on each platform that it counts:
[counts what reaches it](../test/hostile/battery/describe.ts), and
[gets out by](../test/hostile/browser-frame.browser.test.ts) shows that the same code does get out where there is no frame.

\`held\`: it got nothing. \`–\`: it does not apply there. Threads of Node run trusted packages and are no security boundary: what they do not
promise is marked as not promised.
`;

function countOn(
  groups: readonly AttemptGroup[],
  platform: Platform,
  cameOf: (platform: Platform, attempt: Attempt) => Came,
): { readonly tried: number; readonly escaped: number } {
  const came = groups.flatMap((group) =>
    group.attempts
      .filter((attempt) => applies(group, attempt, platform) === true)
      .map((attempt) => cameOf(platform, attempt)),
  );
  return { tried: came.length, escaped: came.filter((each) => each !== "held").length };
}

function section(group: AttemptGroup, cameOf: (platform: Platform, attempt: Attempt) => Came): string {
  const lines = group.attempts.map((attempt) => {
    const results = platforms.map((platform) => {
      const reason = applies(group, attempt, platform);
      return reason === true ? cameOf(platform, attempt) : reason;
    });
    return row([`\`${attempt.id}\``, attempt.tries, ...results]);
  });
  return [
    `\n## ${group.name}\n`,
    `An escape would show so: ${group.seen}.\n`,
    row(["Id", "What it tries", ...platforms.map((platform) => titles[platform])]),
    row(["---", "---", ...platforms.map(() => "---")]),
    ...lines,
  ].join("\n");
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
