import type { Bounds } from "./bounds/bounds.ts";

/** The bounds of a tool without its own. */
export const defaultBounds: Bounds = {
  /** A model waits this long without losing the thread; slower work says so in its manifest. */
  timeoutMs: 10_000,
  /** More than a model can read, less than a log or a page chokes on. */
  outputBytes: 1_048_576,
  bodyBytes: 8_388_608,
  networkRequests: 16,
  networkBytes: 8_388_608,
  /** One caller has at most half. */
  concurrency: 8,
};

/** The highest bounds of a manifest. */
export const ceilings: Required<Bounds> = {
  timeoutMs: 900_000,
  /** Of a stream, which is never buffered; see {@link limits} for the rest. */
  outputBytes: 1_099_511_627_776,
  bodyBytes: 1_099_511_627_776,
  networkRequests: 1_000,
  networkBytes: 25_165_824,
  concurrency: 64,
  callsPerHour: 1_000_000,
  cpuMs: 900_000,
  memoryBytes: 4_294_967_296,
  fuel: Number.MAX_SAFE_INTEGER,
};

/** Between a cancellation and the kill: long enough to close what is open, short enough to feel immediate. */
export const graceMs = 250;
/** Nested arrays and objects in an input or output. */
export const depth = 64;
/** Values in an input or output: a DAG that unfolds beyond is refused. A step that looks at each of so many holds the thread for some tens of milliseconds. */
export const nodes = 100_000;
/** Members of all objects of an input or output: one takes as long as several items of an array. */
export const members = 50_000;
/** The three for one value. Their names are not read from this module's namespace, which a bundle would then contain whole. */
export const ofValue: { readonly maxDepth: number; readonly maxNodes: number; readonly maxMembers: number } = {
  maxDepth: depth,
  maxNodes: nodes,
  maxMembers: members,
};
/** Values of an input or output up to which all steps that look at each of them share a turn of the event loop. With more, each has a turn of its own. */
export const turnNodes = 5_000;
/** Of an output in a result, where the caller takes references: more than a model reads and a page shows, and the largest that is handed on by default. */
export const inlineOutputBytes = 1_048_576;
/**
 * A buffered output: the smallest cap on a path to an isolate (RPC at the edge: 32 MiB), with room
 * for the envelope.
 */
export const wholeOutputBytes = 25_165_824;
/** One piece of a stream on its way out of an isolate, or into one: large enough that a message costs little beside it. */
export const pieceBytes = 262_144;
/**
 * Chunks of one stream in transit at the same time. With the size of a chunk this bounds the memory
 * of an unread stream.
 */
export const piecesInFlight = 4;
/** Chunks of a body without a byte, in a row: a source that gives nothing else would never let go of the kernel. */
export const emptyChunks = 1_000;
/** UTF-8 bytes of an input. */
export const inputBytes = 8_388_608;
/** Arguments of calls that are not over, of all callers: bytes of their text, and {@link valueBytes} for each value. A caller leaves as many free as it has; beyond, the kernel refuses it. */
export const heldInputBytes = 67_108_864;
/** The memory that a value takes beside its text. */
export const valueBytes = 64;
/** UTF-16 units of an input's texts that the rules of one decision fold: the largest input has no more that are not ASCII. About 50 ns each. */
export const foldedUnits = 4_194_304;
/** UTF-16 units in which the rules of one decision search for a text (`contains`): 50 rules that look through 1 MB. */
export const searchedUnits = 67_108_864;
/** A package's code: the largest that every host loads without delay. */
export const codeBytes = 4_194_304;
/** A WebAssembly module: a program with the runtime of its language, and still one message on every way to an isolate. */
export const wasmBytes = 16_777_216;
/** A manifest without its two schemas, and the options of one call that narrow it: a stranger writes them, and each value is read on the kernel's own thread. */
export const declaration = { values: 5_000, characters: 65_536 } as const;
/**
 * The parts of a policy for requests: its grants, conditions of its rules and lists of its tools.
 * The kernel trusts its author.
 */
export const policyPatterns = { values: 250_000, characters: 2_097_152 } as const;
/** Capability requests of one call, served or refused. */
export const requestsPerCall = 1_000;
/** Refused requests of one call that have a proof of their own, between its start, or its resumption, and its end. */
export const provenDenials = 32;
/** Capability requests of one call that wait at the same time. */
export const requestsInFlight = 32;
/** Log lines and progress reports of one call; the kernel drops later ones. */
export const messagesPerCall = 1_000;
/** UTF-16 units of a log line, a progress message, or a tool's error message; the kernel cuts longer ones. */
export const messageLength = 2_000;
/** UTF-16 units of each text that says what is wrong with an input or an output: names of members are in it, and those have no bound. */
export const explanationLength = 500;
/** A person needs time to read; a forgotten question must not stay open. */
export const approvalMs = 120_000;
/** Standing approvals; the kernel forgets the oldest of the caller with the most first. */
export const sessionApprovals = 1_000;
/** Open approval requests of one caller. No person reads more, and each holds its arguments. */
export const openQuestions = 16;
/** A tool has so long to say how it is, or its own timeout if that is shorter. */
export const healthMs = 2_000;
/** Bytes that the idle isolates of a host hold together, where the host states no other bound. */
export const idleBytes: number = 256 * 2 ** 20;
/** Bytes of an idle isolate whose host states none. */
export const isolateBytes: number = 4 * 2 ** 20;
/** The pool closes an isolate that no call used for so long. */
export const idleMs = 60_000;
/** Failures of a tool in a row, of its isolates or by its deadline, before it has to rest. */
export const failuresInARow = 3;
/** How long it rests at least; a tool that timed out, its deadline. Twice as long after each further failure. */
export const quarantineMs = 1_000;
/** After isolates that failed. */
export const longestQuarantineMs = 60_000;
/** After timeouts. */
export const longestSetAsideMs = 900_000;
/** So long after its end the next failure still makes it twice as long. */
export const quarantineKeptMs = 3_600_000;
/** Tools, and tools of callers, whose failures are counted; the first of the caller with the most are forgotten first. */
export const quarantines = 10_000;
/** Between two checkpoints of the state that governs, which shorten opening a log. */
export const checkpointEvents = 10_000;
/** Events that the memory sink keeps. */
export const memoryEvents = 10_000;
/** The window of `callsPerHour`, one per tool and caller. */
export const rateWindowMs = 3_600_000;
/** Windows that count calls, shared as labelled sessions are. Beyond, a rule whose window is unknown cannot be evaluated, and one that denies or asks counts as matching. */
export const counterWindows = 100_000;
/** Calls that one window of a rule remembers; beyond, likewise. */
export const counterEntries = 10_000;
/** Sessions with remembered labels. A caller has at most half of what the others leave; beyond, its unknown sessions carry every label. */
export const labelledSessions = 100_000;
/** The kernel forgets the labels of a session after this time without use. */
export const sessionMs = 2_592_000_000;
/** The same for a session that one call had for itself: longer than any call and its isolate last. */
export const ownSessionMs = 3_600_000;
/** Calls that wait for a free slot of one tool. Beyond, the kernel refuses the caller with the most of them. */
export const queuedCalls = 100;
/** How long a call waits for a free slot, where it names no `waitMs`; never longer than its own `timeoutMs`. A model's client gives up after a minute. */
export const waitMs = 30_000;
/** The longest `waitMs` that a call may name: the longest run of the call that it waits for. */
export const longestWaitMs = 900_000;
/** How often the arguments of one call can be edited by approvers. */
export const edits = 5;
/** An approval for a session or a pattern is forgotten after a working day. */
export const standingApprovalMs = 28_800_000;
/** The kernel remembers an idempotency key for a day: longer than any client retries. */
export const keyMs = 86_400_000;
/** Idempotency keys of one caller at the same time; the kernel refuses a new one beyond. */
export const keysPerCaller = 1_000;
/** Of all callers, with shares. */
export const keys = 100_000;
/** UTF-8 bytes of stored results for idempotency keys. Beyond, the oldest go; their keys stay used. */
export const keptBytes = 33_554_432;
/** Stored results of pure tools; the longest unused go first. */
export const cachedResults = 1_000;
/** Their UTF-8 bytes. */
export const cachedBytes = 16_777_216;
/**
 * The default number of fresh isolates for one input of a purity check: two agree by chance more
 * easily than three.
 */
export const pureRuns = 3;
/** Runs of one call, the first one included. */
export const attempts = 3;
/** Before the second run; each later one waits four times as long as the one before. */
export const retryMs = 100;
/** Calls within calls within a call. */
export const nestedDepth = 8;
/** Calls that one call from outside leads to, however deep. */
export const nestedCalls = 1_000;
/**
 * The longest wait of a nested call for a slot of its tool. After it, a holder of a slot may wait
 * for this very call.
 */
export const nestedWaitMs = 5_000;
/**
 * The longest pause of a call's deadline in all, while nested calls wait for people: two unanswered
 * requests, and a little more.
 */
export const nestedPauseMs = 300_000;
/** Characters of names that callers choose: caller, session, correlation. */
export const nameLength = 256;
