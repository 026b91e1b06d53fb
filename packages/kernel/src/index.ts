export { createKernel } from "./create-kernel.ts";
export { defaultModeTriggers } from "./extensions/mode-triggers/mode-triggers.ts";
export type { Kernel, KernelOptions, ProofSigner } from "./kernel-api.ts";
export type {
  CallOptions,
  ResumeOptions,
  SuspendCode,
  SuspendOptions,
  Suspension,
} from "./call/arrival/call-options.ts";
export type { ToolFilter, ToolSummary } from "./tool/summary.ts";
export type { AuditReader } from "./audit/reader.ts";
export type { EarlierEvents } from "./audit/earlier-events.ts";
export { modelError } from "./call/faults/model-error.ts";
export type { CallSuspender } from "./call/suspension/call-suspender.ts";
export {
  type CallError,
  type CallFailure,
  type CallMeta,
  type CallResult,
  type CallSuccess,
  type ErrorCode,
  errorCodes,
  type Hints,
  type ModelError,
  type Setup,
  type SetupError,
  type SetupErrorCode,
  setupErrorCodes,
} from "./result.ts";

export {
  type CapabilityRefused,
  defineTool,
  type Onward,
  type Tool,
  type ToolCode,
  type ToolContext,
  type ToolDefinition,
} from "./tool/define.ts";
export type { Ask } from "./capability/ask.ts";
export type {
  Infer,
  InferGiven,
  InferOutput,
  OutputSource,
  SchemaSource,
  StandardJsonSchema,
  ToolStream,
} from "./tool/infer.ts";
export {
  type DeclaredCapability,
  type Determinism,
  type Mode,
  modes,
  type OutputContract,
  outputKinds,
  type Risk,
  type Tier,
  tierNames,
  type ToolManifest,
  type ToolSource,
} from "./tool/manifest.ts";
export {
  type HttpBody,
  type HttpMethod,
  httpMethods,
  type HttpResponse,
  type HttpTemplate,
} from "./tool/http-template.ts";
export { manifestOf } from "./tool/manifest-of.ts";
export { checkPackage, checkTrustedTool } from "./tool/check-package.ts";
export { packageHash } from "./tool/hash.ts";
export { normalize } from "./normalize/normalizer.ts";
export { nearest } from "./tool/nearest.ts";
export type { PackageFile, PackageOf, RegisteredTool, ToolPackage } from "./tool/package.ts";
export type { LogEntry, Progress } from "./tool/report.ts";

export type {
  Capability,
  CapabilityKind,
  CapabilityTypes,
  Effect,
  EffectTypes,
  Governed,
  Need,
  NeedTypes,
  RequestConditions,
  ToolLists,
  ToolSizes,
} from "./capability/capability.ts";
export { isKind } from "./support/kind.ts";
export type { ArgumentPattern, CommandPattern, RestPattern } from "./capability/matching/commands.ts";
export type { PageCapability } from "./capability/families/browser-page.ts";
export type { ClockCapability, RandomCapability } from "./capability/families/clock.ts";
export {
  type DatabaseCapability,
  type StatementKind,
  statementKinds,
  type ToolDatabase,
  type ToolRows,
} from "./capability/families/db.ts";
export type { FileEntry, FilesCapability, ToolFiles } from "./capability/families/fs.ts";
export type { KeysCapability, ToolKeys } from "./capability/families/kv.ts";
export type { NetCapability, ToolFetch, ToolRequestInit } from "./capability/families/net.ts";
export type { SpawnCapability, ToolProcess, ToolSpawn } from "./capability/families/process-spawn.ts";
export type { SecretCapability } from "./capability/families/secret-use.ts";
export type { ToolCallAnswer, ToolCallCapability, ToolCalls } from "./capability/families/tool-call.ts";
export { builtInFamilies } from "./capability/families/index.ts";
export type { Families } from "./capability/registry.ts";
export type { Broker, BrokerNeeds, BrokerSession } from "./capability/broker.ts";
export type {
  BrokerError,
  BrokerReply,
  CapabilityError,
  CapabilityReply,
  CapabilityRequest,
} from "./capability/request.ts";
export type { Revocation, RevocationMatch } from "./capability/revocation.ts";
export type { CallSecrets, OpenSecrets, Redactor, Revealed, SecretCall, SecretKeeper } from "./capability/secret.ts";
export { checkArgument, checkCommand } from "./capability/matching/command-names.ts";
export { matchCommand } from "./capability/matching/commands.ts";
export { checkKey, checkKeyPrefix, matchKey } from "./capability/matching/kv-keys.ts";
export { checkName, matchName } from "./capability/matching/names.ts";
export { checkHostPattern, matchHost } from "./capability/matching/hosts.ts";
export { checkHeader, headerNameOf } from "./capability/matching/headers.ts";
export { kindOfMethod, readMethod, readUrl, urlPlace } from "./capability/net-request.ts";
export { isBoundedHost, parseUrl } from "./support/parse-url.ts";
export { trimBlanks } from "./support/trim.ts";
export { isOfDomain } from "./support/domain.ts";
export { pointerOf, pointerTokens } from "./json/pointer.ts";
export { isToolName, readVersionedId, toolNamePattern, versionedId } from "./support/tool-names.ts";
export { hasInvisible, visible } from "./support/visible.ts";
export { checkGlob, checkPath, matchPath } from "./capability/matching/paths.ts";

export { type ApprovalAnswer, type ApprovalRequest, type Approver, patternRule } from "./policy/approval/approval.ts";
export { askInTurn } from "./policy/approval/in-turn.ts";
export { passkeyChallenge } from "./policy/approval/passkey.ts";
export { decodeBase64Url, encodeBase64Url } from "./bytes/base64.ts";
export type { StandingApproval } from "./policy/approval/standing-table.ts";
export { patternFault } from "./policy/approval/pattern.ts";
export { defaultPolicy, type Policy } from "./policy/document/make.ts";
export type { Resources } from "./policy/modes/resources.ts";
export type { ModeTrigger } from "./policy/modes/triggers.ts";
export type {
  ArgumentCondition,
  CountCondition,
  Decision,
  GrantRule,
  LabelRule,
  PolicyDocument,
  Passkey,
  Passkeys,
  PolicyRule,
  Posture,
  RuleCondition,
  RuleExample,
  TimeWindow,
  ToolGovernance,
} from "./policy/document/policy.ts";
export type {
  ApprovalProof,
  PasskeyAssertion,
  PasskeyProof,
  Proof,
  ProofSignature,
  ReasonCode,
  StateRead,
} from "./policy/proof/proof.ts";
export type { Preview, PreviewProof, PreviewQuestion } from "./policy/decision/preview.ts";
export { policy, type PolicyOptions } from "./policy/document/load.ts";
export type { PolicyVariables } from "./policy/document/variables.ts";
export { engineVersion } from "./policy/proof/seal-proof.ts";
export { type ProofCheck, verifyProofDigest } from "./policy/proof/verify-digest.ts";

export type { BoundName, Bounds } from "./bounds/bounds.ts";
export { ceilings, defaultBounds } from "./limits.ts";
export * as limits from "./limits.ts";

export { type Clock, systemClock } from "./isolate/clock.ts";
export type { ToolHealth } from "./isolate/health.ts";
export type { KernelHealth } from "./operations/kernel-health.ts";
export type { PureCheck } from "./isolate/verify-pure.ts";
export type { Reuse } from "./isolate/pool/slot.ts";
export type { ToolQuarantine } from "./isolate/backoff.ts";
export {
  type CallPort,
  type Isolate,
  type IsolateCall,
  IsolateFailure,
  type IsolateHost,
  type IsolateOutcome,
  type IsolateOutput,
  type IsolateUsage,
  type RealSources,
} from "./isolate/port.ts";

export {
  blake3,
  blake3DeriveKey,
  type Blake3Hasher,
  blake3Keyed,
  type Blake3Mode,
  createHasher,
} from "./hash/blake3.ts";
export { canonicalize, canonicalJson, type CanonicalResult } from "./json/canonical-json.ts";
export type { ContentStore } from "./bytes/content-store.ts";
export type { NormalizeError, NormalizeReason } from "./json/normalize-error.ts";
export { blake3Hash, hashBytes, hashJson, hashText } from "./hash/blake3-hash.ts";
export { type Digest, type DigestAlgorithm, type Hash, isDigest } from "./hash/hash.ts";
export type { ContentReference } from "./bytes/content-reference.ts";
export { isJsonArray, isJsonObject, type JsonArray, type JsonObject, type JsonValue } from "./json/json.ts";
export type { CustomNormalizer, CustomNormalizers, NormalizationKind, Normalized } from "./normalize/normalizer.ts";
export { parseJson, snapshot, type SnapshotResult } from "./json/snapshot.ts";
export { SNAPSHOT_LIMITS, type SnapshotLimits } from "./json/snapshot-limits.ts";

export { type ChainCheck, verifyChain } from "./audit/chain.ts";
export {
  type AuditEvent,
  type AuditEventOf,
  type AuditPayloads,
  type AuditType,
  terminalTypes,
} from "./audit/event.ts";
export { memorySink } from "./audit/memory-sink.ts";
export { type EventRecord, eventOf, lineOf, recordOf } from "./audit/record.ts";
export type { AuditSink, SinkState } from "./audit/sink.ts";

export {
  type AiSdkTool,
  aiSdkTool,
  type AnthropicTool,
  anthropicTool,
  mcpTool,
  type McpTool,
  type OpenAiTool,
  openAiTool,
} from "./surface/definitions.ts";
