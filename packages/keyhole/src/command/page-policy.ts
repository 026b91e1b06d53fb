import { parseUrl } from "@keyhole/kernel";
import { GatheredBytes } from "@keyhole/kernel/foreign";
import { isolateSources } from "@keyhole/worker-host/csp";
import type { Finding } from "./finding.ts";
import { Unusable, visible } from "./io.ts";

/**
 * Returns the sources that a page's Content-Security-Policy lacks for isolates. It accepts any nonce or hash of a script: only the page knows the right one.
 *
 * @throws {Unusable} for a page that does not answer
 */
export async function pageFindings(url: string, signal: AbortSignal): Promise<readonly Finding[]> {
  const { policies, status } = await fetchPolicies(url, signal);
  const page: Finding = { subject: "page", state: status < 400 ? "ok" : "missing", text: `${url} answers ${status}` };
  if (policies.length === 0)
    return [
      page,
      {
        subject: "Content-Security-Policy",
        state: "absent",
        text: "the page has none; isolates work, and keyhole/vite prints one",
      },
    ];
  return [page, ...policies.flatMap(policyFindings)];
}

async function fetchPolicies(
  url: string,
  signal: AbortSignal,
): Promise<{ status: number; policies: readonly string[] }> {
  if (parseUrl(url) === undefined)
    throw new Unusable(`--url is ${visible(url)}; expected an address such as http://localhost:5173.`);
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) });
    const header = response.headers.get("content-security-policy");
    // Without `<` in a tag, the search stays linear.
    const metas = [...(await headOf(response)).matchAll(/<meta\b[^<>]*>/gi)].flatMap(([tag]) =>
      /http-equiv=["']?content-security-policy/i.test(tag) ? [/\bcontent="([^"]*)"/i.exec(tag)?.[1] ?? ""] : [],
    );
    return { status: response.status, policies: [...(header === null ? [] : header.split(",")), ...metas] };
  } catch (error) {
    if (signal.aborted) throw error;
    throw new Unusable(visible(`${url} does not answer: ${error instanceof Error ? error.message : ""}`), {
      cause: error,
    });
  }
}

/** A page names its policy at its head, and a foreign page may have no end. */
const MOST_BYTES = 1 << 20;

async function headOf({ body }: Response): Promise<string> {
  if (body === null) return "";
  const head = new GatheredBytes();
  // Leaving the loop cancels the rest.
  for await (const chunk of body) {
    head.add(chunk.subarray(0, MOST_BYTES - head.length));
    if (head.length === MOST_BYTES) break;
  }
  return new TextDecoder().decode(head.take());
}

/** @param policy of several all have to allow a thing */
function policyFindings(policy: string): readonly Finding[] {
  const directives = new Map(
    policy.split(";").map((part) => {
      const [name = "", ...sources] = part.trim().split(/\s+/);
      return [name.toLowerCase(), sources] as const;
    }),
  );
  return Object.entries(isolateSources).map(([name, needed]) => {
    const given =
      directives.get(name) ??
      (name === "worker-src" ? directives.get("script-src") : undefined) ??
      directives.get("default-src");
    const lacks = given === undefined ? [] : needed.filter((source) => !isAllowed(source, given));
    if (lacks.length === 0) return { subject: name, state: "ok", text: "allows isolates" };
    return { subject: name, state: "missing", text: `lacks ${lacks.join(" ")}` };
  });
}

function isAllowed(source: string, given: readonly string[]): boolean {
  if (given.includes(source) || (source === "'wasm-unsafe-eval'" && given.includes("'unsafe-eval'"))) return true;
  return source.startsWith("'sha256-") && given.some((each) => each.startsWith("'nonce-"));
}
