import type { Bounds } from "./bounds/bounds.ts";
import type { Governed, RequestConditions, ToolLists } from "./capability/capability.ts";
import type { ArgumentPattern, CommandPattern, RestPattern } from "./capability/matching/commands.ts";
import type {
  ArgumentCondition,
  CountCondition,
  GrantRule,
  LabelRule,
  Passkey,
  Passkeys,
  PolicyDocument,
  PolicyRule,
  RuleCondition,
  TimeWindow,
  ToolGovernance,
} from "./policy/document/policy.ts";
import type { HttpResponse, HttpTemplate } from "./tool/http-template.ts";
import type { OutputContract, ToolManifest } from "./tool/manifest.ts";

/** One sentence for each member, so that a member without one does not compile. An editor shows it. */
export type Texts<T> = { readonly [Member in keyof Required<T>]: string };

type Keys<T> = T extends unknown ? keyof T : never;
type AllOf<T> = Readonly<Record<Keys<T>, string>>;

export const policyTexts: Texts<PolicyDocument> = {
  $schema: "The JSON Schema of this file, for editors. No digest covers it.",
  version: 'The version of this format: "1".',
  posture: "The answer where no rule matches, by tier of the tool. `strict` allows only tier 0.",
  enforcement: "`observe` records each decision and denies nothing by rule or posture. Default: `enforce`.",
  grants: "The capabilities that callers have. A request without a grant is refused.",
  rules: "Conditions on calls and on their requests. A `deny` beats an `ask`, and an `ask` beats an `allow`.",
  tools: "Limits for single tools, by name. They only tighten.",
  approvers: "The approvers whose answers count. Default: every approver.",
  approver: "`passkey`: a yes counts only with an assertion of one of `passkeys`. Default: the approver's word counts.",
  passkeys: "The passkeys whose assertions count (WebAuthn).",
  labels: "Labels of outputs. A session carries the labels of every output that it received.",
};

export const passkeysTexts: Texts<Passkeys> = {
  rpId: "The domain for which the passkeys were made.",
  origins: "The pages that may ask for an assertion, such as `https://approvals.example.com`.",
  keys: "One entry for each passkey.",
};

export const passkeyTexts: Texts<Passkey> = {
  approver: "The name on record as the approver.",
  credentialId: "The id of the credential, in base64url.",
  publicKey: "The public key (SubjectPublicKeyInfo), in base64url.",
};

export const grantTexts: Texts<GrantRule> = {
  tool: "The name of a tool, or `*` for every tool.",
  caller: "The caller who has the grant. Default: every caller.",
  capability: "The capability that is granted.",
};

export const ruleTexts: Texts<PolicyRule> = {
  id: "A name that no other rule of this policy has.",
  effect: "The answer for a call or request that matches.",
  approver: "Of `ask`: `passkey` demands an assertion of one of the policy's passkeys.",
  when: "Every condition must hold. `{}` matches every call.",
  reason: "One sentence for the person or model that is asked or refused.",
  examples: "Calls that the rule must match or must not match. A wrong example refuses the policy.",
};

export const conditionTexts: Texts<Omit<RuleCondition, keyof RequestConditions>> = {
  tool: "Names of tools.",
  version: "A SemVer version or range of the tool.",
  category: "Categories of tools.",
  tier: "Tiers of tools, from 0 (safe) to 4 (dangerous).",
  risk: "Risks that tools declare.",
  mode: "Modes of the kernel.",
  caller: "Names of callers.",
  session: "Names of sessions.",
  effects: "The tool declares at least one of these effects.",
  capability:
    "The call has a grant of one of these kinds. In a rule about requests: the request is of one of these kinds.",
  arguments: "Conditions on arguments of the call. Every one must hold.",
  labels: "The session carries at least one of these labels.",
  time: "Parts of the week, or a span of time.",
  count: "A number of calls, or a sum of an argument, within a window.",
};

/** Conditions that families have. A test finds one without a text. */
export const requestTexts: Readonly<Record<string, string>> = {
  host: "Hosts of network requests: exact, `*.example.com` or `*`. Makes this a rule about requests.",
  path: "Paths of network requests or files. Makes this a rule about requests.",
  method: "HTTP methods, in capitals. Makes this a rule about requests.",
  command: "Names of commands. Makes this a rule about requests.",
  database: "Names of databases. Makes this a rule about requests.",
  key: "Prefixes of keys. Makes this a rule about requests.",
  calls: "Names of tools that the tool calls. Makes this a rule about requests.",
  secret: "Names of secrets. Makes this a rule about requests.",
};

export const argumentTexts: AllOf<ArgumentCondition> = {
  at: "A JSON Pointer (RFC 6901) to the argument.",
  exists: "The argument is there (`true`) or not (`false`).",
  equals: "Equal as JSON. A `deny` or `ask` rule also matches other letters, and what is not plain.",
  differs: "Not equal as JSON, or absent.",
  in: "Equal to one of these values.",
  notIn: "Equal to none of these values, or absent.",
  lessThan: "A number below this one.",
  atMost: "A number up to this one.",
  moreThan: "A number above this one.",
  atLeast: "A number from this one on.",
  longerThan: "Longer than this: UTF-16 units of a text, items of an array.",
  startsWith: "A text with this beginning.",
  endsWith: "A text with this end.",
  contains: "A text with this part, or an array with this text among its items.",
  hostIn: "A URL or a host that one of these patterns covers.",
  hostNotIn: "A URL or a host that none of these patterns covers, or absent.",
  pathIn: "A relative path under one of these globs.",
  pathNotIn: "A relative path under none of these globs, or absent.",
};

export const timeTexts: Texts<TimeWindow> = {
  days: "Days of the week on which the window begins.",
  from: "The first minute, `HH:MM`. Later than `to`: the window passes midnight. Default: 00:00.",
  to: "The minute after the last one, `HH:MM`. Default: 24:00.",
  utcOffsetMinutes: "The offset from UTC of `days`, `from` and `to`. Default: 0.",
  after: "The first instant, in RFC 3339.",
  before: "The instant after the last one, in RFC 3339.",
};

export const countTexts: AllOf<CountCondition> = {
  windowMs: "The length of the sliding window, in milliseconds. At most 31 days.",
  per: 'Calls are counted apart for each of these. Default: ["caller"]. `[]` counts all calls together.',
  sum: "A JSON Pointer (RFC 6901) to an argument. Its values are added, in place of counting calls.",
  moreThan: "Holds above this number, the present call included.",
  atMost: "Holds up to this number, the present call included.",
};

export const governanceTexts: Texts<Omit<ToolGovernance, keyof ToolLists>> = {
  modes:
    "Modes in which the tool runs, and modes in which every call asks. With `lockdown` LOCKDOWN asks about this observer; it denies other tools with effects.",
  sizes: "Sizes of inputs and files, in bytes.",
  bounds: "Lower bounds than those of the tool.",
  keep: "Values that the content store keeps, as JSON Pointers (RFC 6901). Default: none.",
  rate: "The number of calls in any window of `windowMs`. Default: per caller.",
};

/** Lists that families have. */
export const listTexts: Readonly<Record<string, string>> = {
  paths: "Globs of files, checked at every request.",
  hosts: "Patterns of hosts, checked at every request.",
  commands: "Names of commands.",
  databases: "Patterns of names of databases.",
  keys: "Prefixes of keys.",
  calls: "Patterns of names of tools that the tool calls.",
};

export const governedTexts: Texts<Governed> = {
  allowed: "Only these.",
  forbidden: "None of these. `forbidden` beats `allowed`.",
};

export const labelTexts: Texts<LabelRule> = {
  tools: "Tools whose outputs carry the label.",
  implies: "Labels that come with this one.",
};

/** Members of the capabilities of all families. */
export const capabilityTexts: Readonly<Record<string, string>> = {
  kind: "The kind of capability.",
  hosts: "ASCII hosts: exact, `*.example.com` (public hosts below it) or `*` (public hosts).",
  ports: "Ports. Default: 80 and 443; in a manifest any port.",
  paths: "Network: prefixes of paths, matched on whole segments. Files: globs over relative paths.",
  methods: "HTTP methods. Default: GET and HEAD to read; POST, PUT, PATCH and DELETE to write.",
  headers: "Names of request headers beside the ordinary ones. Default: none; in a manifest any.",
  requests: "Requests in one call, redirects included.",
  bytes: "Bytes of requests and of decompressed responses in one call.",
  except: "Globs that are never allowed.",
  operations: "Changes of files: `write`, `remove`. Default: both.",
  fileBytes: "Bytes of one file.",
  totalBytes: "Bytes of all files in one call.",
  databases: "Names of databases: exact, `logs_*` or `*`.",
  statements: "Kinds of statements. Default: `select` to read; `insert`, `update` and `delete` to write.",
  rows: "Rows of one answer.",
  keys: "Prefixes of keys. The empty prefix is every key.",
  navigations: "Documents of one page: the first one, redirects, frames, and each further one.",
  valueBytes: "Bytes of one value.",
  commands: "Commands and the arguments that they may have. There is no shell.",
  tools: "Names of tools: exact, `report_*` or `*`.",
  names: "Names of secrets: exact, `github_*` or `*`.",
  optional: "A call runs without a grant for this capability. Default: false.",
  target:
    "The arguments that name the target of the tool's requests. The decision then covers the target. Default: only the gate checks it.",
};

/** Parts of a target, of all families. */
export const targetTexts: Readonly<Record<string, string>> = {
  path: "A JSON Pointer (RFC 6901) to the argument with the path of the file.",
  url: "A JSON Pointer (RFC 6901) to the argument with the URL.",
  method: "A JSON Pointer (RFC 6901) to the argument with the HTTP method. Default: every method of the capability.",
  key: "A JSON Pointer (RFC 6901) to the argument with the key.",
  database: "A JSON Pointer (RFC 6901) to the argument with the name of the database.",
  tool: "A JSON Pointer (RFC 6901) to the argument with the name of the tool.",
};

export const commandTexts: Texts<CommandPattern> = {
  command: "The name of the command, matched exactly. It is never a path.",
  args: "One pattern for each argument, in order. Only the last may be a `rest`. Default: no arguments.",
};

/** Forms of one argument. A plain text fits exactly itself. */
export const patternTexts: AllOf<Exclude<ArgumentPattern, string> | RestPattern> = {
  oneOf: "One of these texts.",
  prefix:
    'A text with this beginning. Behind a place (`src/`, `https://h/a/`) the rest is a plain path. `""` is any text that is no option.',
  path: "A relative path under one of these globs.",
  number: "A whole number. Default: 0 and up.",
  rest: "Last: any number of arguments that each fit.",
};

export const boundsTexts: Texts<Bounds> = {
  timeoutMs: "Time of one run, in milliseconds, the start of its isolate included.",
  outputBytes: "Bytes of the output.",
  bodyBytes: "Bytes of the body that the tool reads.",
  networkRequests: "Network requests of one call.",
  networkBytes: "Bytes of network requests and responses of one call.",
  concurrency: "Calls of the tool at the same time. Further calls wait.",
  callsPerHour: "Calls of one caller in any 60 minutes. Default: no limit.",
  cpuMs: "Processor time in milliseconds. A host that cannot enforce it refuses the tool.",
  memoryBytes: "Memory of the isolate in bytes. A host that cannot enforce it refuses the tool.",
  fuel: "Instructions of WebAssembly. A host that cannot count them refuses the tool.",
};

export const manifestTexts: Texts<ToolManifest> = {
  name: "Lower-case letters, digits and `_`, starting with a letter, at most 64 characters.",
  version: "A SemVer 2.0.0 version.",
  title: "A short name for people.",
  description: "The text by which a model chooses the tool.",
  category: "A group of tools, for rules and lists.",
  effects: "The kinds of requests by which the tool reads or changes the world. Default: none.",
  determinism:
    "`pure`: the output depends on the input alone. `seeded`: also on seed and logical clock. `external`: also on other data. `nondeterministic`: on anything. Default: `pure`.",
  tier: "Danger from 0 (safe) to 4 (dangerous). The posture of a policy answers by tier. Default: 0.",
  risk: "The risk that the author sees.",
  modes: "Modes in which the tool may run, from NORMAL on. Default: every mode.",
  approval: "`always`: every call asks. Default: `policy`.",
  idempotent: "A second run with the same input changes nothing more. Default: false.",
  program: "The property of the input that holds a program.",
  source: "`module`: an ES module. `wasm`: a WebAssembly module. `process`: a program of the host. `http`: a request.",
  wasm: "Arguments and environment of a WASI command.",
  process: "The program of the host, by the name under which the host offers it.",
  http: "The request that the tool is.",
  capabilities: "The capabilities that the tool asks for. Default: none.",
  bounds: "Bounds that differ from the defaults.",
  input: "The JSON Schema (2020-12) of the input. Its type is `object`.",
  body: "The tool reads a stream of bytes beside its input.",
  output: "The kind of the output, and its JSON Schema.",
  normalization: "A normal form of the output that the kernel was given.",
};

export const outputTexts: Texts<OutputContract> = {
  kind: "`json`, `text`, `binary`, or `stream` for bytes that flow while the tool runs.",
  schema: "The JSON Schema (2020-12) of a `json` output.",
  mediaType: "The media type, such as `image/png`.",
  transfer: "The array of a `binary` output leaves the tool without a copy. Default: false.",
};

export const httpTexts: Texts<HttpTemplate> = {
  method: "The method. Default: GET.",
  url: "A URI template (RFC 6570, level 3) over the input. Its host is fixed, or an enum.",
  headers: "Texts with `{property}` and `{secret.NAME}`. A header without its property is not sent.",
  body: '`json`, `form` or `text`, with references such as `{ "$from": "input#/name" }`.',
  responses: "What replies mean, by status (`404`), class (`4XX`) or `default`.",
};

export const httpResponseTexts: AllOf<HttpResponse> = {
  output: "The output, with references to `body`, `headers`, `status` and `input`. Default: the body.",
  mediaType: "The media type of the reply. Default: that of the output, or JSON.",
  error: "The error that the reply is.",
};

export const httpErrorTexts: Texts<Extract<HttpResponse, { error: object }>["error"]> = {
  code: "The `name` in the details of the `TOOL_ERROR`.",
  message: "A text, or a reference to one. Default: host and status.",
  retryable: "Whether the failure passes. Default: for 408, 425, 429, 502, 503 and 504.",
};
