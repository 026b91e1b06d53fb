/**
 * Places that compare a part of a text, or fold it, in the folders that decide about access, callers and destinations; outside of the modules that bring texts into one
 * form. Each says how often, and which form both sides have, or why nothing depends on it. A new place belongs into one of {@link forms}, with both faces.
 */
export const compared: Readonly<Record<string, readonly [count: number, form: string]>> = {
  "bus/src/wire/subjects.ts": [2, "subjects by isSubject; each prefix ends with its dot"],
  "edge/src/app/body.ts": [1, "the whole media type in lower case"],
  "edge/src/app/calls.ts": [1, "whole media types; they choose between two answers"],
  "edge/src/app/gateway.ts": [1, "the path that the router took; chooses headers"],
  "edge/src/object/configured.ts": [1, "names by checkName; the more are listed, the more is searched for"],
  "kernel/src/capability/define-family.ts": [1, "our own kinds"],
  "kernel/src/capability/families/fs.ts": [1, "a pattern of the policy: which family it is for"],
  "kernel/src/capability/families/net.ts": [2, "the tool's half; the broker reads both again"],
  "kernel/src/capability/families/secret-use.ts": [1, "names by checkName, of ASCII; a deny folds both sides"],
  "kernel/src/capability/net-request.ts": [3, "the host as URL gives it; the method by a pattern of ASCII"],
  "kernel/src/capability/web-place.ts": [1, "a pattern of the policy: which family it is for"],
  "kernel/src/policy/approval/passkey.ts": [1, "a key of the policy; the whole key is imported"],
  "kernel/src/policy/approval/standing-approvals.ts": [1, "JSON of all that binds; a prefix is a whole text of it"],
  "kernel/src/policy/decision/arguments.ts": [2, "plain texts by Folds, in both faces"],
  "kernel/src/policy/decision/plain-text.ts": [1, "makes the one plain form of both sides"],
  "kernel/src/policy/decision/state-reads.ts": [2, "our own prefixes"],
  "kernel/src/policy/document/invalid.ts": [1, "a message"],
  "mcp/src/approvals/pages.ts": [1, "the rest of the path is a whole id; the origin is compared whole"],
  "mcp/src/server/content.ts": [2, "a digest of the kernel; an address whose whole is looked up"],
  "mcp/src/server/result.ts": [1, "a media type of a manifest; chooses the form of an answer"],
  "mcp/src/source/direct-calls.ts": [2, "our own prefix; the whole id is looked up"],
  "mcp/src/source/source-tool.ts": [1, "our own names of effects"],
  "playground/src/client/edge-address.ts": [3, "our own schemes; the rest is a whole origin or name"],
  "playground/src/client/saved.ts": [1, "our own keys, to remove them"],
  "worker-host/src/brokers/db-d1.ts": [1, "a message of the engine"],
  "worker-host/src/brokers/kv-indexeddb.ts": [1, "keys by checkKey; chooses where a page begins"],
  "worker-host/src/brokers/kv-memory.ts": [1, "keys by checkKey"],
  "worker-host/src/brokers/kv-workers.ts": [1, "keys by checkKey behind the tenant's prefix"],
  "worker-host/src/brokers/memory-store.ts": [2, "paths by checkPath; each prefix ends with its slash"],
  "worker-host/src/brokers/store.ts": [1, "names that checkPath keeps from tools: a store passes over its own drafts"],
  "worker-host/src/brokers/net/addresses.ts": [2, "the host as URL gives it"],
  "worker-host/src/brokers/net/request.ts": [1, "a token of HTTP, of ASCII"],
  "worker-host/src/brokers/sql/authorize.ts": [1, "a function as the engine names it, of ASCII"],
  "worker-host/src/brokers/sql/definition.ts": [1, "columns as the engine names them, on both sides"],
  "worker-host/src/node/browser/forward.ts": [3, "headers as Node parsed them; the rules saw the same request"],
  "worker-host/src/node/browser/proxy.ts": [1, "our own greeting"],
  "worker-host/src/node/browser/visit.ts": [2, "chooses a message"],
  "worker-host/src/node/secrets.ts": [4, "names by checkName, of ASCII, in upper case on both sides"],
};

/** Bring texts into one form. Those of them that decide have a face that grants and one that denies. */
export const forms: readonly string[] = [
  "kernel/src/capability/matching/",
  "kernel/src/support/fold.ts",
  "kernel/src/support/unicode.ts",
  "kernel/src/support/parse-url.ts",
  "kernel/src/support/domain.ts",
];

/** Folders and files that decide. */
export const deciding: readonly string[] = [
  "kernel/src/{support,capability,policy/{approval,decision,document,modes}}/**",
  "worker-host/src/{brokers,inspector,node/browser}/**",
  "worker-host/src/{edge/address,node/inspector,node/secrets}.ts",
  "edge/src/{app,mcp,object}/**",
  "mcp/src/{approvals,server,source}/**",
  "bus/src/**",
  "playground/src/client/**",
];
