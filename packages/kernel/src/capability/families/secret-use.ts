import { placeholder, secretToken } from "../../id/placeholder.ts";
import { defineFamily } from "../define-family.ts";
import type { Family } from "../family.ts";
import { isFlag, isLiteral, isText, orAbsent, patterns } from "../fields.ts";
import { hostCondition } from "../matching/host-condition.ts";
import { checkGrantedHost, coversHost, hostMatcher } from "../matching/hosts.ts";
import { checkNamePattern, matchName } from "../matching/names.ts";

declare module "../capability.ts" {
  interface CapabilityTypes {
    "secret.use": SecretCapability;
  }
  interface RequestConditions {
    /** Names of secrets. */
    readonly secret?: readonly string[];
  }
  interface NeedTypes {
    "secret.use": SecretNeed;
  }
}

/** The use of secrets that the tool names and never sees: its broker puts the value in the place of a placeholder, on the way to these hosts. */
export interface SecretCapability {
  readonly kind: "secret.use";
  /** Names of secrets: exact, `github_*` (a prefix) or `*`. */
  readonly names: readonly string[];
  /** As in `net.read`. */
  readonly hosts: readonly string[];
}

interface SecretNeed {
  readonly kind: "secret.use";
  readonly name: string;
  readonly host: string;
  readonly isPublic?: boolean;
}

/** Using secrets, without seeing them. It has no requests: the broker of another kind reveals a secret while it serves. */
export const secretUse: Family = /* @__PURE__ */ defineFamily<SecretCapability, SecretNeed>({
  kind: "secret.use",
  title: "Uses secrets",
  effect: "none",
  fields: { names: /* @__PURE__ */ patterns(checkSecretPattern), hosts: /* @__PURE__ */ patterns(checkGrantedHost) },
  need: { name: isText, host: isText, isPublic: /* @__PURE__ */ orAbsent(isFlag) },
  covers:
    ({ names, hosts }) =>
    (need, reading) =>
      names.some((pattern) => matchName(pattern, need.name)) && coversHost(hosts, need, reading),
  describe: ({ names, hosts }) => `${names.join(", ")} for ${hosts.join(", ")}`,
  target: ({ name, host }) => `${name} for ${host}`,
  narrowest: ({ name, host }) => ({ kind: "secret.use", names: [name], hosts: [host] }),
  conditions: {
    host: /* @__PURE__ */ hostCondition(),
    secret: {
      check: checkNamePattern,
      touches(patterns) {
        const names = patterns.map(storedName);
        return ({ name }) => names.some((each) => matchName(each, storedName(name)));
      },
    },
  },
  sample: ({ secret = "example", host = "example.com" }) => ({ kind: "secret.use", name: secret, host }),
  destination: (need) => need,
  isNarrow: ({ names, hosts }) => isLiteral(names) && isLiteral(hosts),
  secret: {
    need: (name, host, isPublic) => ({ kind: "secret.use", name, host, isPublic }),
    namesAt({ names, hosts }) {
      const matches = hostMatcher(hosts);
      return (host) => (matches(host, true) ? names : []);
    },
  },
});

function checkSecretPattern(pattern: string): string | undefined {
  return pattern.includes(".") ? "the name of a secret has no dot" : checkNamePattern(pattern);
}

/** Where secrets are kept, in an environment for one, `api-key` and `API_KEY` can be one. */
function storedName(name: string): string {
  return name.toLowerCase().replaceAll("-", "_");
}

/** The guest's half: a stand-in for a secret, which needs no request. */
export function secretGuest(seed: string): (name: string) => string {
  return (name) => placeholder(secretToken(seed), String(name));
}
