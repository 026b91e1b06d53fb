/** Screens beside the workbench that have no call. */
export const screenNames = ["approvals", "policy", "build", "agent", "replay"] as const;
export type ScreenName = (typeof screenNames)[number];

/**
 * The screen of the page, as its address has it: `#/call/ID`, `#/tool/ID`, `#/timeline`, `#/timeline/ID`, and a name of {@link screenNames}, with what
 * the screen itself reads behind it. Anything else is the start.
 */
export type Route =
  | { readonly kind: "start" }
  | { readonly kind: "call"; readonly id: string }
  | { readonly kind: "tool"; readonly id: string }
  /** Of one call, or of the whole session. */
  | { readonly kind: "timeline"; readonly id: string | undefined }
  /** `rest`: as it stands in the address. */
  | { readonly kind: "screen"; readonly name: ScreenName; readonly rest: string };

/** A screen of the workbench. */
export type BenchRoute = Exclude<Route, { kind: "timeline" | "screen" }>;

/** A link is foreign: any other address is the start. */
export function readRoute(hash: string): Route {
  const [, kind, encoded = "", ...rest] = hash.split("/");
  const id = decoded(encoded);
  if (hash === "#/timeline") return session;
  const name = screenNames.find((each) => each === kind);
  if (hash.startsWith("#/") && name !== undefined) return { kind: "screen", name, rest: [encoded, ...rest].join("/") };
  const isRoute = hash.startsWith("#/") && rest.length === 0 && id !== undefined && id !== "";
  return isRoute && (kind === "call" || kind === "tool" || kind === "timeline") ? { kind, id } : start;
}

export function writeRoute(route: Route): string {
  if (route.kind === "start") return "#/";
  if (route.kind === "screen") return `#/${route.name}${route.rest === "" ? "" : `/${route.rest}`}`;
  return route.id === undefined ? "#/timeline" : `#/${route.kind}/${encodeURIComponent(route.id)}`;
}

const start: Route = { kind: "start" };
const session: Route = { kind: "timeline", id: undefined };

/** Whether a screen shows something without a kernel. */
export function isWithoutKernel(route: Route): boolean {
  return route.kind === "timeline" || (route.kind === "screen" && route.name === "replay");
}

/** Where a screen begins. */
export function screenRoute(name: ScreenName): Route {
  return { kind: "screen", name, rest: "" };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
