import { blake3Hash, packageHash, type PackageOf } from "@keyhole/kernel";
import type webSearchTool from "./web-search.ts";
import template from "keyhole:./web-search.ts";

const placeholder = "https://searxng.invalid/search";

/**
 * The tool `web_search` for one search engine that speaks SearXNG's JSON (its setting `search.formats` contains `json`). The address is part of the package:
 * another one gives another hash, and a manifest that asks for another host.
 *
 * @param endpoint absolute, such as `https://search.example.org/search`; http or https, without query
 * @throws {TypeError} for anything else
 */
export function webSearchAt(endpoint: string): PackageOf<typeof webSearchTool> {
  if (!URL.canParse(endpoint)) throw new TypeError("The address of the search is not an absolute URL.");
  const url = new URL(endpoint);
  if (
    !/^https?:$/.test(url.protocol) ||
    url.search !== "" ||
    url.hash !== "" ||
    url.username !== "" ||
    url.password !== ""
  )
    throw new TypeError("The address of the search is http or https, without query and without credentials.");
  const pieces = String(template.code).split(placeholder);
  if (pieces.length !== 2) throw new Error("The package does not hold its address exactly once.");
  // In this form an address has no quotes, no backslashes and no braces, so that it is a text wherever it stands.
  const code = pieces.join(url.href.replace(/['"\\`$]/g, encodeURIComponent).replaceAll("'", "%27"));
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  const manifest = {
    ...template.manifest,
    capabilities: [{ kind: "net.read", hosts: [url.hostname], ports: [port], methods: ["GET"] } as const],
  };
  return { manifest, code, hash: packageHash(manifest, code, blake3Hash) } as PackageOf<typeof webSearchTool>;
}
