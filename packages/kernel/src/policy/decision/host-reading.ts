import { hostOf } from "../../capability/matching/hosts.ts";

export interface HostReading {
  readonly host: string | undefined;
  /** Whether every reader takes its host for the place. */
  readonly isPlain: boolean;
  /** Whether a driver could read further hosts in it. */
  readonly namesMore: boolean;
}

/** URLs whose host is the place (URL, "special scheme"). `about:` and `file:` go nowhere, and a query of `postgres:` can name another host. */
const ofHost = /^(?:https?|wss?|ftp):\/\//i;

/** Any other URL with signs by which drivers name further hosts: `postgres://a/?host=b`, `sqlserver://a;server=b`, `mongodb://a,b/`. */
const more = /^(?!(?:https?|wss?|ftp):)[^:]*:\/\/[^]*[?#;,=&@%]/i;

export function readHost(text: string): HostReading {
  return { host: hostOf(text), isPlain: !text.includes("://") || ofHost.test(text), namesMore: more.test(text) };
}
