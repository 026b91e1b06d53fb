import { compress, IV } from "./blake3-compress.ts";

/*
 * BLAKE3 (https://github.com/BLAKE3-team/BLAKE3-specs, "the specification"): hash, keyed hash and key derivation, each with output of
 * any length. Plain 32-bit arithmetic: for the small inputs of a kernel, and for hosts that refuse to compile WebAssembly.
 */

const BLOCK_BYTES = 64;
const BLOCK_WORDS = 16;
const CHUNK_BYTES = 1024;
const CHUNK_WORDS = 256;
const CV_BYTES = 32;
const CV_WORDS = 8;
/** Chunks within 2^53 bytes, as a tree: its height. */
const MAX_HEIGHT = 43;

const CHUNK_START = 1;
const CHUNK_END = 2;
const PARENT = 4;
const ROOT = 8;
const KEYED_HASH = 16;
const DERIVE_KEY_CONTEXT = 32;
const DERIVE_KEY_MATERIAL = 64;

/** The state of all chunks but the last: at most one chaining value per height. */
interface Tree {
  readonly key: Int32Array;
  readonly flags: number;
  readonly stack: Int32Array;
  stackSize: number;
  chunks: number;
}

/** Bytes, and the same memory as words: read byte by byte, words take as long as half of the compression. */
interface Room {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly words: Int32Array<ArrayBuffer>;
}

/** @param byteLength whole blocks: behind its bytes, an input is filled up to one. */
function room(byteLength: number): Room {
  const bytes = new Uint8Array(byteLength);
  return { bytes, words: new Int32Array(bytes.buffer) };
}

/** Scratch. Nothing foreign runs while it is in use. */
const inbox: Room = /* @__PURE__ */ room(16_384);
const cv: Int32Array = /* @__PURE__ */ new Int32Array(8);
const parent: Int32Array = /* @__PURE__ */ new Int32Array(16);
const output: Int32Array = /* @__PURE__ */ new Int32Array(16);
const sharedStack: Int32Array = /* @__PURE__ */ new Int32Array(MAX_HEIGHT * CV_WORDS);

const isLittleEndian: boolean = /* @__PURE__ */ (() => new Uint8Array(Int32Array.of(1).buffer)[0] === 1)();

/** Makes the first bytes of a room readable as words: whole blocks, filled up with zeros, in the order of this machine. */
function settle({ bytes, words }: Room, byteLength: number): void {
  const blocks = Math.max(1, Math.ceil(byteLength / BLOCK_BYTES));
  for (let i = byteLength; i < blocks * BLOCK_BYTES; i++) bytes[i] = 0;
  if (isLittleEndian) return;
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < blocks * BLOCK_WORDS; i++) words[i] = view.getInt32(i * 4, true);
}

/** Copies at most a chunk to where it can be compressed. */
function take(bytes: Uint8Array, at: number, byteLength: number): Int32Array {
  inbox.bytes.set(byteLength === bytes.length ? bytes : bytes.subarray(at, at + byteLength));
  settle(inbox, byteLength);
  return inbox.words;
}

function createTree(key: Int32Array, flags: number, stack: Int32Array): Tree {
  return { key, flags, stack, stackSize: 0, chunks: 0 };
}

/** Adds the chunk from word `at`, which is not the last one, and joins the subtrees that it completes. */
function addChunk(tree: Tree, words: Int32Array, at: number): void {
  const { key, flags, stack, chunks } = tree;
  compress(key, words, at, chunks, BLOCK_BYTES, flags | CHUNK_START, cv);
  const end = at + CHUNK_WORDS - BLOCK_WORDS;
  for (let block = at + BLOCK_WORDS; block < end; block += BLOCK_WORDS)
    compress(cv, words, block, chunks, BLOCK_BYTES, flags, cv);
  compress(cv, words, end, chunks, BLOCK_BYTES, flags | CHUNK_END, cv);
  stack.set(cv, tree.stackSize++ * CV_WORDS);
  tree.chunks++;
  for (let rest = tree.chunks; rest % 2 === 0; rest /= 2) {
    const pair = (tree.stackSize - 2) * CV_WORDS;
    compress(key, stack, pair, 0, BLOCK_BYTES, flags | PARENT, cv);
    stack.set(cv, pair);
    tree.stackSize--;
  }
}

/** The root node, from which output of any length comes. It can lie in scratch: to be used at once. */
interface RootNode {
  readonly cv: Int32Array;
  readonly words: Int32Array;
  readonly at: number;
  readonly blockBytes: number;
  readonly flags: number;
}

/** Adds the last chunk, of 0 to 1024 settled bytes from word `at`. The tree itself stays as it is, so that more bytes can follow. */
function finish(tree: Tree, words: Int32Array, at: number, byteLength: number): RootNode {
  const { key, stack, stackSize, chunks } = tree;
  let before = key;
  let flags = tree.flags | CHUNK_START;
  let block = at;
  let blockBytes = byteLength;
  for (; blockBytes > BLOCK_BYTES; blockBytes -= BLOCK_BYTES, block += BLOCK_WORDS) {
    compress(before, words, block, chunks, BLOCK_BYTES, flags, cv);
    before = cv;
    flags = tree.flags;
  }
  flags |= CHUNK_END;
  if (stackSize === 0) return { cv: before, words, at: block, blockBytes, flags };

  compress(before, words, block, chunks, blockBytes, flags, cv);
  flags = tree.flags | PARENT;
  for (let left = stackSize - 1; ; left--) {
    for (let i = 0; i < CV_WORDS; i++) parent[i] = stack[left * CV_WORDS + i] ?? 0;
    parent.set(cv, CV_WORDS);
    if (left === 0) return { cv: key, words: parent, at: 0, blockBytes: BLOCK_BYTES, flags };
    compress(key, parent, 0, 0, BLOCK_BYTES, flags, cv);
  }
}

function expand(root: RootNode, outBytes: number): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(outBytes);
  for (let at = 0; at < outBytes; at += BLOCK_BYTES) {
    compress(root.cv, root.words, root.at, at / BLOCK_BYTES, root.blockBytes, root.flags | ROOT, output);
    for (let i = 0; i < Math.min(outBytes - at, BLOCK_BYTES); i++)
      result[at + i] = (output[i >> 2] ?? 0) >> ((i & 3) * 8);
  }
  return result;
}

function rootOf(bytes: Uint8Array, key: Int32Array, flags: number): RootNode {
  const tree = createTree(key, flags, sharedStack);
  let at = 0;
  for (; bytes.length - at > CHUNK_BYTES; at += CHUNK_BYTES) addChunk(tree, take(bytes, at, CHUNK_BYTES), 0);
  return finish(tree, take(bytes, at, bytes.length - at), 0, bytes.length - at);
}

function keyWords(key: Uint8Array): Int32Array {
  if (key.length !== CV_BYTES) throw new TypeError(`a BLAKE3 key has 32 bytes, not ${key.length}`);
  const view = new DataView(key.buffer, key.byteOffset, CV_BYTES);
  return Int32Array.from({ length: 8 }, (_, i) => view.getInt32(i * 4, true));
}

function contextKey(context: string): Int32Array {
  return keyWords(expand(rootOf(new TextEncoder().encode(context), IV, DERIVE_KEY_CONTEXT), CV_BYTES));
}

/**
 * BLAKE3 of some bytes.
 *
 * @param outBytes Length of the result, 32 by default. A longer one extends a shorter one; it adds no security.
 */
export function blake3(bytes: Uint8Array, outBytes: number = CV_BYTES): Uint8Array<ArrayBuffer> {
  return expand(rootOf(bytes, IV, 0), outBytes);
}

/**
 * Scratch memory for bytes to hash: {@link blake3Words} reads them there without a copy. Fill and
 * hash it without a pause.
 */
export const blake3Room: Uint8Array<ArrayBuffer> = inbox.bytes;

/** The 8 words of the hash of the first bytes, in scratch: for an immediate read. For those who print it, without an array in between. */
export function blake3Words(bytes: Uint8Array, byteLength: number): Int32Array {
  if (bytes !== blake3Room) return wordsOf(rootOf(bytes.subarray(0, byteLength), IV, 0));
  const tree = createTree(IV, 0, sharedStack);
  settle(inbox, byteLength);
  let at = 0;
  for (; byteLength - at > CHUNK_BYTES; at += CHUNK_BYTES) addChunk(tree, inbox.words, at / 4);
  return wordsOf(finish(tree, inbox.words, at / 4, byteLength - at));
}

function wordsOf(root: RootNode): Int32Array {
  compress(root.cv, root.words, root.at, 0, root.blockBytes, root.flags | ROOT, cv);
  return cv;
}

/**
 * BLAKE3 as a message authentication code.
 *
 * @throws TypeError when the key has not 32 bytes.
 */
export function blake3Keyed(key: Uint8Array, bytes: Uint8Array, outBytes: number = CV_BYTES): Uint8Array<ArrayBuffer> {
  return expand(rootOf(bytes, keyWords(key), KEYED_HASH), outBytes);
}

/**
 * A key derived from other key material.
 *
 * @param context Fixed text that names the application and the purpose, such as `"example.com 2026-01-01 session tokens"`; never data.
 */
export function blake3DeriveKey(
  context: string,
  material: Uint8Array,
  outBytes: number = CV_BYTES,
): Uint8Array<ArrayBuffer> {
  return expand(rootOf(material, contextKey(context), DERIVE_KEY_MATERIAL), outBytes);
}

/** BLAKE3 of bytes that arrive in parts; holds about 3 KB. */
export interface Blake3Hasher {
  /** Adds bytes; the caller can reuse them afterwards. */
  update(bytes: Uint8Array): this;
  /** The 8 words of the hash of all bytes so far, in scratch: for an immediate read. */
  words(): Int32Array;
  /** The hash of all bytes so far, of which there can be more afterwards. 32 bytes by default. */
  digest(outBytes?: number): Uint8Array<ArrayBuffer>;
}

/** One of three functions: the hash itself, the keyed hash, or key derivation. */
export type Blake3Mode =
  | { readonly kind: "hash" }
  | { readonly kind: "keyed"; readonly key: Uint8Array }
  | { readonly kind: "derive-key"; readonly context: string };

/**
 * @example
 * const hasher = createHasher();
 * for await (const part of stream) hasher.update(part);
 * hasher.digest(); // the same as blake3(all the parts together)
 *
 * @throws TypeError when a key has not 32 bytes.
 */
export function createHasher(mode: Blake3Mode = { kind: "hash" }): Blake3Hasher {
  const tree = treeFor(mode);
  /** The last bytes so far, up to a whole chunk: only more bytes show that it is not the last one. */
  const pending = new Uint8Array(CHUNK_BYTES);
  let pendingBytes = 0;
  return {
    update(bytes) {
      let at = 0;
      while (at < bytes.length) {
        if (pendingBytes === CHUNK_BYTES) {
          addChunk(tree, take(pending, 0, CHUNK_BYTES), 0);
          pendingBytes = 0;
        }
        if (pendingBytes === 0) {
          for (; bytes.length - at > CHUNK_BYTES; at += CHUNK_BYTES) addChunk(tree, take(bytes, at, CHUNK_BYTES), 0);
        }
        const part = bytes.subarray(at, at + CHUNK_BYTES - pendingBytes);
        pending.set(part, pendingBytes);
        pendingBytes += part.length;
        at += part.length;
      }
      return this;
    },
    words: () => wordsOf(finish(tree, take(pending, 0, pendingBytes), 0, pendingBytes)),
    digest(outBytes = CV_BYTES) {
      return expand(finish(tree, take(pending, 0, pendingBytes), 0, pendingBytes), outBytes);
    },
  };
}

function treeFor(mode: Blake3Mode): Tree {
  const stack = new Int32Array(MAX_HEIGHT * CV_WORDS);
  switch (mode.kind) {
    case "hash":
      return createTree(IV, 0, stack);
    case "keyed":
      return createTree(keyWords(mode.key), KEYED_HASH, stack);
    case "derive-key":
      return createTree(contextKey(mode.context), DERIVE_KEY_MATERIAL, stack);
  }
}
