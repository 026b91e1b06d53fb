import type { Capability, CapabilityKind, Need } from "../capability/capability.ts";
import { capabilityCovers } from "../capability/covers.ts";
import { checkKey } from "../capability/keys.ts";
import { checkName } from "../capability/names.ts";
import { isNarrow, narrowestFor } from "../capability/narrowest.ts";
import { checkPath } from "../capability/paths.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import { parseUrl } from "../support/parse-url.ts";
import type { RegisteredTool } from "../tool/package.ts";

/**
 * What a tool that has not run yet is likely to ask for first, as the narrowest capability: what its arguments name under the usual names, as far as it declares that; else
 * what it declares, where that is a single thing. Only ever an operator's suggestion: nothing is decided by it, and what the tool then really asks for is checked.
 */
export function wantedBy(
  { input, tool }: { readonly input: JsonValue; readonly tool: RegisteredTool },
  kind: CapabilityKind,
): Capability | undefined {
  const wishes = tool.manifest.capabilities.filter((capability) => capability.kind === kind);
  const need = isJsonObject(input) ? needIn(input, kind) : undefined;
  const isDeclared = need && wishes.some((wish) => capabilityCovers(wish, need, "wish"));
  const named = isDeclared ? narrowestFor(need) : undefined;
  const [only] = wishes;
  if (named || !only || wishes.length > 1 || !isNarrow(only)) return named;
  const { optional: _, ...capability } = only;
  return capability;
}

function needIn(
  { url, method, path, key, database }: { readonly [name: string]: JsonValue },
  kind: CapabilityKind,
): Need | undefined {
  switch (kind) {
    case "net.read":
    case "net.write": {
      const place = typeof url === "string" ? placeOf(url) : undefined;
      const verb = typeof method === "string" ? method : kind === "net.read" ? "GET" : "POST";
      return place && { kind, method: verb, ...place };
    }
    case "fs.read":
    case "fs.write":
      return typeof path === "string" && checkPath(path) === undefined ? { kind, path } : undefined;
    case "kv.read":
    case "kv.write":
      return typeof key === "string" && checkKey(key) === undefined ? { kind, key } : undefined;
    case "db.read":
      return typeof database === "string" && checkName(database) === undefined
        ? { kind, database, statements: ["select"] }
        : undefined;
    default:
      return undefined;
  }
}

function placeOf(text: string): { readonly host: string; readonly port: number; readonly path: string } | undefined {
  const url = parseUrl(text);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:") || url.username !== "" || url.password !== "")
    return undefined;
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  return { host: url.hostname.replace(/\.$/, ""), port, path: url.pathname };
}
