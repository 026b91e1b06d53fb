/*
 * `@keyhole/kernel/foreign`: for authors of brokers and hosts. What a store, a database or another broker answers is read once, as the kernel reads what it is given.
 */
export { BodyReader, type BodyFault } from "./bounds/body-reader.ts";
export { knownCallOptions } from "./call/arrival/read-options.ts";
export { decodeBase64, encodeBase64 } from "./bytes/base64.ts";
export { GatheredBytes } from "./bytes/gathered-bytes.ts";
export { nextPiece } from "./bytes/next-piece.ts";
export { readNeeds, readReply } from "./capability/gate/broker-reply.ts";
export { readTraceparent } from "./id/trace.ts";
export { plainMembers } from "./json/plain-members.ts";
export { knownOptions, type OptionNames } from "./json/known-options.ts";
export { parseRange, parseVersion } from "./support/semver.ts";
export { apartFromPage } from "./support/apart-from-page.ts";
export { bytesOf, membersOf } from "./support/foreign.ts";
export { jsonExcess } from "./json/json-excess.ts";
export { type JsonPlaces, jsonPlaces } from "./json/json-places.ts";
export { type JsonTextFault, jsonTextFault } from "./json/json-text-fault.ts";
