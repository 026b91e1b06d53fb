import { type Attempt, type AttemptGroup, platforms, rows } from "./attempt.ts";

/** Nothing but this one message, in a call that has a body. */
const single = rows("body", [
  ["other-call", "to read in the body of another call", "send({ ...pull, callId: 'other' })"],
  ["no-call", "to read in no call's body", "send({ type: 'pull' })"],
  ["field", "to read, with a field too many", "send({ ...pull, pieces: 1000 })"],
  ["size", "to read so many bytes at once", "send({ ...pull, bytes: 1 << 30 })"],
  [
    "host-piece",
    "a piece of the body, as the host gives it",
    "send({ type: 'pulled', callId, bytes: new Uint8Array(1) })",
  ],
  ["host-break", "that the body broke off, as the host says it", "send({ type: 'pulled', callId, bytes: undefined })"],
]);

/** The first read is answered with a byte, the second one never; after a log line "end" every one with the end. */
const several: readonly Attempt[] = [
  {
    id: "body.twice",
    tries: "to read before the last read was answered",
    code: "send(pull); send(pull); send(pull)",
    heard: 2,
  },
  {
    id: "body.flood",
    tries: "to read without end, and without waiting",
    code: "for (let i = 0; i < 1000; i++) send(pull)",
    heard: 2,
  },
  {
    id: "body.after-end",
    tries: "to read on after the end",
    code: "send({ ...log, message: 'end' }); send(pull); send(pull)",
    heard: 2,
  },
  { id: "body.after-outcome", tries: "to read after its own end", code: "send(end); send(pull)", noticed: "late" },
];

/** One of each class. */
const classes = [
  "body.other-call",
  "body.field",
  "body.host-piece",
  "body.twice",
  "body.after-end",
  "body.after-outcome",
];

/** The tool has thrown the shell out and holds the way to the kernel, in a call that has a body. */
export const bodyGuests: AttemptGroup = {
  name: "Forged reads, from a guest that has taken the shell's place",
  layer: "guest of a stream",
  seen: "the isolate outlives the message, or the caller's body is read more often than the guest was answered",
  on: platforms,
  attempts: [...single, ...several],
  quick: { firefox: classes, webkit: classes },
};
