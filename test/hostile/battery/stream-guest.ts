import { type Attempt, type AttemptGroup, platforms, rows } from "./attempt.ts";

/** Nothing but this one message, in a call whose output is a stream. */
const single = rows("stream", [
  ["other-call", "a piece for another call", "send(piece(0, { callId: 'other' }))"],
  ["no-call", "a piece without a call", "const { callId: _, ...rest } = piece(0); send(rest)"],
  ["order", "a first piece with the number 1", "send(piece(1))"],
  ["negative", "a piece with a negative number", "send(piece(-1))"],
  ["nan", "a piece whose number is none", "send(piece(NaN))"],
  ["infinite", "a piece with the number Infinity", "send(piece(Infinity))"],
  ["huge", "a piece with the number 2^53", "send(piece(2 ** 53))"],
  ["fraction", "a piece with a fraction as number", "send(piece(0.5))"],
  ["text-number", "a piece with a text as number", "send(piece('0'))"],
  ["field", "a piece with a field too many", "send(piece(0, { more: true }))"],
  ["empty", "a piece without a byte", "send(piece(0, { bytes: new Uint8Array() }))"],
  ["long", "a piece one byte too long", "send(piece(0, { bytes: new Uint8Array(262145) }))"],
  ["very-long", "a piece of 16 MB", "send(piece(0, { bytes: new Uint8Array(16 << 20) }))"],
  ["text", "a text as a piece", "send(piece(0, { bytes: 'bytes' }))"],
  ["array", "a list of numbers as a piece", "send(piece(0, { bytes: [1, 2, 3] }))"],
  ["buffer", "an `ArrayBuffer` as a piece", "send(piece(0, { bytes: new ArrayBuffer(8) }))"],
  ["data-view", "a `DataView` as a piece", "send(piece(0, { bytes: new DataView(new ArrayBuffer(8)) }))"],
  ["floats", "numbers of 64 bits as a piece", "send(piece(0, { bytes: new Float64Array(8) }))"],
  ["like-bytes", "an object that looks like bytes", "send(piece(0, { bytes: { byteLength: 1, length: 1, 0: 1 } }))"],
  ["then-able", "an object with a `then` as a piece", "send(piece(0, { bytes: { then: 1 } }))"],
  ["view", "one byte that holds on to 16 MB", "send(piece(0, { bytes: new Uint8Array(16 << 20).subarray(0, 1) }))"],
  [
    "detached",
    "a piece whose buffer was given away",
    "const bytes = new Uint8Array(8); structuredClone(bytes, { transfer: [bytes.buffer] }); send(piece(0, { bytes }))",
  ],
  ["shared", "a piece in memory that it keeps", "send(piece(0, { bytes: new Uint8Array(new SharedArrayBuffer(8)) }))"],
  ["stream", "a live stream as a piece", "const bytes = new ReadableStream(); send(piece(0, { bytes }), [bytes])"],
  ["host-credit", "credit, as the host gives it", "send({ type: 'taken', callId, more: true })"],
  ["credit-negative", "credit of less than nothing", "send({ type: 'credit', callId, pieces: -1 })"],
  ["credit-huge", "credit without end", "send({ type: 'credit', callId, pieces: Infinity })"],
  ["end-json", "JSON at the end of the stream", "send(outcome({ kind: 'returned', output }))"],
  [
    "end-bytes",
    "bytes at the end of the stream",
    "send(outcome({ kind: 'returned', output: { form: 'binary', bytes: new Uint8Array(1) } }))",
  ],
  [
    "end-claim",
    "an end that claims a size",
    "send(outcome({ kind: 'returned', output: { form: 'stream', byteLength: -1 } }))",
  ],
]);

/** What only a row of messages shows. A piece of 7 bytes is one that nobody takes. */
const several: readonly Attempt[] = [
  { id: "stream.twice", tries: "the same piece twice", code: "send(piece(0)); send(piece(0))", heard: 1 },
  { id: "stream.gap", tries: "pieces with one left out", code: "send(piece(0)); send(piece(2))", heard: 1 },
  {
    id: "stream.credit",
    tries: "five pieces of which none was taken",
    code: "for (let i = 0; i < 5; i++) send(piece(i, { bytes: new Uint8Array(7) }))",
    heard: 4,
  },
  {
    id: "stream.flood",
    tries: "pieces without end, and without waiting",
    code: "for (let i = 0; i < 1000; i++) send(piece(i, { bytes: new Uint8Array(7) }))",
    heard: 4,
  },
  {
    id: "stream.end-early",
    tries: "an end before all of it was taken",
    code: "send(piece(0, { bytes: new Uint8Array(7) })); send(end)",
    heard: 1,
    // An end can overtake a piece there; the piece then meets a call that has ended.
    except: { workerd: "–" },
  },
  { id: "stream.after-end", tries: "a piece after the end", code: "send(end); send(piece(0))", noticed: "late" },
  { id: "stream.two-ends", tries: "two ends", code: "send(end); send(end)", noticed: "late" },
];

/** One of each class, as of the other messages; of the bytes all that an engine could let cross in another way. */
const classes = [
  "other-call order nan empty long like-bytes view detached shared stream host-credit end-json twice credit end-early after-end",
].flatMap((ids) => ids.split(" ").map((id) => `stream.${id}`));

/** The tool has thrown the shell out and holds the way to the kernel, in a call whose output is a stream. */
export const streamGuests: AttemptGroup = {
  name: "Forged pieces, from a guest that has taken the shell's place",
  layer: "guest of a stream",
  seen: "the isolate outlives the message, the host takes more than there is credit for, or it holds memory that the guest can change",
  on: platforms,
  attempts: [...single, ...several],
  quick: { firefox: classes, webkit: classes },
};
