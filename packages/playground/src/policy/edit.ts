import { checkHostPattern, policy, parseUrl, type PolicyDocument, type SetupError } from "@keyhole/kernel";
import { hashOf } from "@keyhole/kernel/audit";

/** The tool whose hosts the panel offers to add; the person writes any other grant as JSON. */
const networkTool = "http_fetch";
const searchTool = "web_search";

export type Reading =
  | { readonly ok: true; readonly document: PolicyDocument }
  | { readonly ok: false; readonly error: SetupError };

/** The same check that the kernel makes of an applied policy. */
export function readPolicy(text: string): Reading {
  let foreign: unknown;
  try {
    foreign = JSON.parse(text);
  } catch (error) {
    const message = `This is not JSON: ${error instanceof Error ? error.message : String(error)}`;
    return { ok: false, error: { code: "INVALID_POLICY", message, path: "", hint: "" } };
  }
  const loaded = policy(foreign);
  return loaded.ok ? { ok: true, document: loaded.value.document } : loaded;
}

/** Whether the hash is that of the document. A document with variables has the hash of its values, which this page does not know. */
export function isHashOf(policyHash: string, document: unknown): boolean {
  const loaded = policy(document, { hash: hashOf(policyHash) });
  return loaded.ok && loaded.value.hash === policyHash;
}

export type ParsedHost =
  | { readonly ok: true; readonly host: string; readonly port: number | undefined }
  | { readonly ok: false; readonly message: string };

/** Takes what people paste: a host, a host with a port, `*.example.com`, a whole URL. */
export function parseHost(typed: string): ParsedHost {
  const text = typed.trim();
  const wildcard = /^\*(?:\.|$)/.exec(text)?.[0] ?? "";
  if (text === "*") return { ok: true, host: "*", port: undefined };
  const url = /^[a-z]+:\/\//i.test(text) ? text : `http://${text.slice(wildcard.length)}`;
  const parsed = parseUrl(url);
  if (text === "" || parsed === undefined)
    return { ok: false, message: "This is not a host. Write one like example.com, *.example.com or 127.0.0.1:8080." };
  const { hostname, port } = parsed;
  const host = wildcard + hostname.replace(/\.$/, "");
  const fault = checkHostPattern(host);
  return fault === undefined
    ? { ok: true, host, port: port === "" ? undefined : Number(port) }
    : { ok: false, message: `This host cannot be granted: ${fault}.` };
}

export function withHost(document: PolicyDocument, host: string, port: number | undefined): PolicyDocument {
  const capability = { kind: "net.read", hosts: [host], ...(port !== undefined && { ports: [port] }) } as const;
  return { ...document, grants: [...(document.grants ?? []), { tool: networkTool, capability }] };
}

/** `web_search` may ask the search engine at this address, and no other; without an address none. */
export function withSearch(document: PolicyDocument, address: string | undefined): PolicyDocument {
  const others = (document.grants ?? []).filter(({ tool }) => tool !== searchTool);
  if (address === undefined) return { ...document, grants: others };
  const { hostname, port, protocol } = new URL(address);
  const ports = [port === "" ? (protocol === "https:" ? 443 : 80) : Number(port)];
  const capability = { kind: "net.read", hosts: [hostname], ports, methods: ["GET"] } as const;
  return { ...document, grants: [...others, { tool: searchTool, capability }] };
}

export function withoutGrant(document: PolicyDocument, index: number): PolicyDocument {
  return { ...document, grants: (document.grants ?? []).filter((_, at) => at !== index) };
}
