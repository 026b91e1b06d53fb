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
      framed,
    ];
  const isFramed = !policies.some(({ text, isHeader }) => isHeader && directivesOf(text).has("frame-ancestors"));
  return [page, ...policies.flatMap(policyFindings), ...(isFramed ? [framed] : [])];
}

interface PagePolicy {
  readonly text: string;
  /** `false`: of a meta element, in which some directives count for nothing. */
  readonly isHeader: boolean;
}

const framed: Finding = {
  subject: "frame-ancestors",
  state: "absent",
  text: "no header has it; any page can frame this one",
};

async function fetchPolicies(
  url: string,
  signal: AbortSignal,
): Promise<{ status: number; policies: readonly PagePolicy[] }> {
  if (parseUrl(url) === undefined)
    throw new Unusable(`--url is ${visible(url)}; expected an address such as http://localhost:5173.`);
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) });
    const header = response.headers.get("content-security-policy");
    // Without `<` in a tag, the search stays linear.
    const metas = [...(await headOf(response)).matchAll(/<meta\b[^<>]*>/gi)].flatMap(([tag]) =>
      /http-equiv=["']?content-security-policy/i.test(tag) ? [/\bcontent="([^"]*)"/i.exec(tag)?.[1] ?? ""] : [],
    );
    const policies = [
      ...(header === null ? [] : header.split(",")).map((text) => ({ text, isHeader: true })),
      ...metas.map((text) => ({ text, isHeader: false })),
    ];
    return { status: response.status, policies };
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

/** A directive's sources, by its name. */
type Directives = ReadonlyMap<string, readonly string[]>;

/** As browsers read it: of two directives of one name the first counts. */
function directivesOf(policy: string): Directives {
  const directives = new Map<string, readonly string[]>();
  for (const part of policy.split(";")) {
    const [name = "", ...sources] = part.trim().split(/\s+/);
    if (!directives.has(name.toLowerCase())) directives.set(name.toLowerCase(), sources);
  }
  return directives;
}

/** The directives that count for a request, the first that is there. */
const chains = {
  "script-src": ["script-src", "default-src"],
  "worker-src": ["worker-src", "child-src", "script-src", "default-src"],
} as const satisfies Readonly<Record<keyof typeof isolateSources, readonly string[]>>;

const sourced = (source: string): boolean => !source.endsWith("-eval'");
const sandboxed: readonly string[] = ["allow-scripts", "allow-same-origin"];

/** Of several policies, all have to allow a thing. */
function policyFindings({ text, isHeader }: PagePolicy): readonly Finding[] {
  const directives = directivesOf(text);
  const elements = directives.get("script-src-elem");
  const script = isolateSources["script-src"];
  // Scripts by element and import ask script-src-elem where it is there, WebAssembly always script-src.
  const scripts = elements === undefined ? script : script.filter((source) => !sourced(source));
  const given = (names: readonly string[]) => names.map((name) => directives.get(name)).find((each) => each);
  const findings = [
    lacking("script-src", scripts, given(chains["script-src"])),
    lacking("worker-src", isolateSources["worker-src"], given(chains["worker-src"])),
  ];
  if (elements !== undefined) findings.push(lacking("script-src-elem", script.filter(sourced), elements));
  const types = directives.get("trusted-types");
  if (types?.includes("*") === false) findings.push(lacking("trusted-types", ["keyhole"], types));
  // A meta element sets no sandbox.
  const sandbox = isHeader ? directives.get("sandbox") : undefined;
  if (sandbox !== undefined) findings.push(lacking("sandbox", sandboxed, sandbox));
  return findings;
}

function lacking(subject: string, needed: readonly string[], given: readonly string[] | undefined): Finding {
  const lacks = given === undefined ? [] : needed.filter((source) => !isAllowed(source, given));
  if (lacks.length === 0) return { subject, state: "ok", text: "allows isolates" };
  return { subject, state: "missing", text: `lacks ${lacks.join(" ")}` };
}

function isAllowed(source: string, given: readonly string[]): boolean {
  if (given.includes(source) || (source === "'wasm-unsafe-eval'" && given.includes("'unsafe-eval'"))) return true;
  return source.startsWith("'sha256-") && given.some((each) => each.startsWith("'nonce-"));
}
