/** What the page shows, as its address says it: `#/call/ID`, `#/tool/ID`, `#/timeline`, `#/timeline/ID`. Anything else is the start. */
export type Route =
  | { readonly kind: "start" }
  | { readonly kind: "call"; readonly id: string }
  | { readonly kind: "tool"; readonly id: string }
  /** Of one call, or of the whole session. */
  | { readonly kind: "timeline"; readonly id: string | undefined };

/** A screen of the workbench. */
export type BenchRoute = Exclude<Route, { kind: "timeline" }>;

/** A link is foreign: what is no route is the start. */
export function readRoute(hash: string): Route {
  const [, kind, encoded = "", ...rest] = hash.split("/");
  const id = decoded(encoded);
  if (hash === "#/timeline") return session;
  const isRoute = hash.startsWith("#/") && rest.length === 0 && id !== undefined && id !== "";
  return isRoute && (kind === "call" || kind === "tool" || kind === "timeline") ? { kind, id } : start;
}

export function writeRoute(route: Route): string {
  if (route.kind === "start") return "#/";
  return route.id === undefined ? "#/timeline" : `#/${route.kind}/${encodeURIComponent(route.id)}`;
}

const start: Route = { kind: "start" };
const session: Route = { kind: "timeline", id: undefined };

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
