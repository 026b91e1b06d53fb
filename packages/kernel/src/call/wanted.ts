import type { Family, OfKind, OwnNeed } from "../capability/family.ts";
import { checkKey } from "../capability/matching/kv-keys.ts";
import { checkName } from "../capability/matching/names.ts";
import { checkPath } from "../capability/matching/paths.ts";
import { isJsonObject, type JsonValue } from "../json/json.ts";
import type { Policy } from "../policy/document/make.ts";
import { parseUrl } from "../support/parse-url.ts";
import type { RegisteredTool } from "../tool/package.ts";

/**
 * What a tool that has not run yet is likely to ask for first, as the narrowest capability: what its arguments name under the usual names, as far as it declares that; else
 * what it declares, where that is a single thing. Only ever an operator's suggestion: nothing is decided by it, and what the tool then really asks for is checked.
 */
export function wantedBy(
  { input, tool, policy }: { readonly input: JsonValue; readonly tool: RegisteredTool; readonly policy: Policy },
  kind: string,
): OfKind | undefined {
  const wishes = tool.declared.filter((capability) => capability.kind === kind);
  const family = policy.families.get(kind);
  const need = family && isJsonObject(input) ? needIn(input, family) : undefined;
  const isDeclared = need && wishes.some((wish) => wish.covers(need, "wish"));
  const named = isDeclared ? need.narrowest() : undefined;
  const [only] = wishes;
  if (named || !only || wishes.length > 1 || !only.isNarrow) return named?.json;
  return only.json;
}

function needIn(
  { url, method, path, key, database }: { readonly [name: string]: JsonValue },
  family: Family,
): OwnNeed | undefined {
  const { kind } = family;
  switch (kind) {
    case "net.read":
    case "net.write": {
      const place = typeof url === "string" ? placeOf(url) : undefined;
      const verb = typeof method === "string" ? method : kind === "net.read" ? "GET" : "POST";
      return place && needOf(family, { method: verb, ...place });
    }
    case "fs.read":
    case "fs.write":
      return typeof path === "string" && checkPath(path) === undefined ? needOf(family, { path }) : undefined;
    case "kv.read":
    case "kv.write":
      return typeof key === "string" && checkKey(key) === undefined ? needOf(family, { key }) : undefined;
    case "db.read":
      return typeof database === "string" && checkName(database) === undefined
        ? needOf(family, { database, statements: ["select"] })
        : undefined;
    default:
      return undefined;
  }
}

function needOf(family: Family, members: object): OwnNeed {
  return family.need({ kind: family.kind, ...members });
}

function placeOf(text: string): { readonly host: string; readonly port: number; readonly path: string } | undefined {
  const url = parseUrl(text);
  if (!url || (url.protocol !== "https:" && url.protocol !== "http:") || url.username !== "" || url.password !== "")
    return undefined;
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  return { host: url.hostname.replace(/\.$/, ""), port, path: url.pathname };
}
