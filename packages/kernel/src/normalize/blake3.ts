import { compress, IV } from "./blake3-compress.ts";

/*
 * BLAKE3 (https://github.com/BLAKE3-team/BLAKE3-specs, "the specification"): hash, keyed hash and key derivation, each with output of
 * any length. Plain 32-bit arithmetic: for the small inputs of a kernel, and for hosts that refuse to compile WebAssembly.
 */

const BLOCK_BYTES = 64;
const CHUNK_BYTES = 1024;
const CV_BYTES = 32;
/** Chunks within 2^53 bytes, as a tree: its height. */
const MAX_HEIGHT = 43;

const CHUNK_START = 1;
const CHUNK_END = 2;
const PARENT = 4;
const ROOT = 8;
const KEYED_HASH = 16;
const DERIVE_KEY_CONTEXT = 32;
const DERIVE_KEY_MATERIAL = 64;

/** What all chunks but the last leave behind: at most one chaining value per height. */
interface Tree {
  readonly key: Int32Array;
  readonly flags: number;
  readonly stack: Uint8Array;
  stackSize: number;
  chunks: number;
}

/** Scratch. Nothing foreign runs while it is in use. */
const words: Int32Array = /* @__PURE__ */ new Int32Array(16);
const output: Int32Array = /* @__PURE__ */ new Int32Array(16);
const lastBlock: Uint8Array = /* @__PURE__ */ new Uint8Array(BLOCK_BYTES);
const sharedStack: Uint8Array = /* @__PURE__ */ new Uint8Array(MAX_HEIGHT * CV_BYTES);

function createTree(key: Int32Array, flags: number, stack: Uint8Array): Tree {
  return { key, flags, stack, stackSize: 0, chunks: 0 };
}

/** Adds a chunk that is not the last one, and joins the subtrees that it completes. */
function addChunk(tree: Tree, bytes: Uint8Array, at: number): void {
  const { key, flags, stack, chunks } = tree;
  for (let i = 0; i < 8; i++) words[i] = key[i]!;
  compress(words, bytes, at, chunks, BLOCK_BYTES, flags | CHUNK_START, words);
  const end = at + CHUNK_BYTES - BLOCK_BYTES;
  for (let block = at + BLOCK_BYTES; block < end; block += BLOCK_BYTES) {
    compress(words, bytes, block, chunks, BLOCK_BYTES, flags, words);
  }
  compress(words, bytes, end, chunks, BLOCK_BYTES, flags | CHUNK_END, words);
  store(words, 8, stack, tree.stackSize++ * CV_BYTES);
  tree.chunks++;
  for (let rest = tree.chunks; rest % 2 === 0; rest /= 2) {
    const pair = (tree.stackSize - 2) * CV_BYTES;
    compress(key, stack, pair, 0, BLOCK_BYTES, flags | PARENT, words);
    store(words, 8, stack, pair);
    tree.stackSize--;
  }
}

/** The root node, from which output of any length comes. It can lie in scratch: to be used at once. */
interface RootNode {
  readonly cv: Int32Array;
  readonly block: Uint8Array;
  readonly at: number;
  readonly blockBytes: number;
  readonly flags: number;
}

/** Adds the last chunk of 0 to 1024 bytes. The tree itself stays as it is, so that more bytes can follow. */
function finish(tree: Tree, bytes: Uint8Array, at: number, length: number): RootNode {
  const { key, stack, stackSize, chunks } = tree;
  for (let i = 0; i < 8; i++) words[i] = key[i]!;
  let flags = tree.flags | CHUNK_START;
  let done = 0;
  for (; length - done > BLOCK_BYTES; done += BLOCK_BYTES) {
    compress(words, bytes, at + done, chunks, BLOCK_BYTES, flags, words);
    flags = tree.flags;
  }
  flags |= CHUNK_END;
  const blockBytes = length - done;
  let block = bytes;
  let blockAt = at + done;
  if (blockBytes < BLOCK_BYTES) {
    for (let i = 0; i < BLOCK_BYTES; i++) lastBlock[i] = i < blockBytes ? bytes[blockAt + i]! : 0;
    block = lastBlock;
    blockAt = 0;
  }
  if (stackSize === 0) return { cv: words, block, at: blockAt, blockBytes, flags };

  compress(words, block, blockAt, chunks, blockBytes, flags, words);
  flags = tree.flags | PARENT;
  for (let left = stackSize - 1; ; left--) {
    lastBlock.set(stack.subarray(left * CV_BYTES, (left + 1) * CV_BYTES));
    store(words, 8, lastBlock, CV_BYTES);
    if (left === 0) return { cv: key, block: lastBlock, at: 0, blockBytes: BLOCK_BYTES, flags };
    compress(key, lastBlock, 0, 0, BLOCK_BYTES, flags, words);
  }
}

function expand(root: RootNode, outBytes: number): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(outBytes);
  for (let at = 0; at < outBytes; at += BLOCK_BYTES) {
    outputBlock(root, at / BLOCK_BYTES);
    store(output, Math.min(outBytes - at, BLOCK_BYTES) / 4, result, at);
  }
  return result;
}

function outputBlock(root: RootNode, index: number): Int32Array {
  compress(root.cv, root.block, root.at, index, root.blockBytes, root.flags | ROOT, output);
  return output;
}

/** Little-endian. A fraction of a word is stored as its first bytes; what lies beyond the target is dropped. */
function store(source: Int32Array, count: number, target: Uint8Array, at: number): void {
  for (let i = 0; i < count; i++) {
    const word = source[i]!;
    const place = at + i * 4;
    target[place] = word;
    target[place + 1] = word >> 8;
    target[place + 2] = word >> 16;
    target[place + 3] = word >> 24;
  }
}

function rootOf(bytes: Uint8Array, key: Int32Array, flags: number, byteLength: number = bytes.length): RootNode {
  const tree = createTree(key, flags, sharedStack);
  let at = 0;
  for (; byteLength - at > CHUNK_BYTES; at += CHUNK_BYTES) addChunk(tree, bytes, at);
  return finish(tree, bytes, at, byteLength - at);
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

/** The 8 words of the hash of the first bytes, in scratch: to be read at once. For those who print it, without an array in between. */
export function blake3Words(bytes: Uint8Array, byteLength: number): Int32Array {
  return outputBlock(rootOf(bytes, IV, 0, byteLength), 0);
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
  /** Adds bytes; they are read before this returns and can be reused. */
  update(bytes: Uint8Array): this;
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
          addChunk(tree, pending, 0);
          pendingBytes = 0;
        }
        if (pendingBytes === 0) {
          for (; bytes.length - at > CHUNK_BYTES; at += CHUNK_BYTES) addChunk(tree, bytes, at);
        }
        const part = bytes.subarray(at, at + CHUNK_BYTES - pendingBytes);
        pending.set(part, pendingBytes);
        pendingBytes += part.length;
        at += part.length;
      }
      return this;
    },
    digest(outBytes = CV_BYTES) {
      return expand(finish(tree, pending, 0, pendingBytes), outBytes);
    },
  };
}

function treeFor(mode: Blake3Mode): Tree {
  const stack = new Uint8Array(MAX_HEIGHT * CV_BYTES);
  switch (mode.kind) {
    case "hash":
      return createTree(IV, 0, stack);
    case "keyed":
      return createTree(keyWords(mode.key), KEYED_HASH, stack);
    case "derive-key":
      return createTree(contextKey(mode.context), DERIVE_KEY_MATERIAL, stack);
  }
}
