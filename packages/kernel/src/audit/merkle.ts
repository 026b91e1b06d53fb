import { present } from "../support/guards.ts";
import { blake3 } from "../hash/blake3.ts";
import { blake3Hash } from "../hash/blake3-hash.ts";
import type { Hash } from "../hash/hash.ts";
import { bytesOf } from "./digest-bytes.ts";

/*
 * Merkle trees as of RFC 9162, section 2.1. The RFC's hash is SHA-256; here it is a parameter, and BLAKE3 by default.
 */

/** A hash function that gives 32 bytes. */
export type TreeHash = (bytes: Uint8Array) => Uint8Array;

/** For the log of a kernel with this algorithm. */
export function treeHashOf(hash: Hash): TreeHash {
  return hash === blake3Hash ? blake3 : (bytes) => bytesOf(hash.bytes(bytes));
}

const HASH_BYTES = 32;

declare const checked: unique symbol;
/** 32 bytes. Only these are hashed into a node or compared: a node of other lengths has several readings. */
type TreeNode = Uint8Array & { readonly [checked]: true };

const isNode = (bytes: Uint8Array): bytes is TreeNode => bytes.length === HASH_BYTES;

const LEAF = 0;
const NODE = 1;

/** Scratch, for leaves that are digests and for nodes: a hash function reads its input and does not keep it. */
const leaf: Uint8Array = /* @__PURE__ */ new Uint8Array(1 + HASH_BYTES);
const node: Uint8Array = /* @__PURE__ */ new Uint8Array(1 + 2 * HASH_BYTES);

/** @throws RangeError when `hash` does not give 32 bytes: a bug in the caller. */
export function leafHash(data: Uint8Array, hash: TreeHash = blake3): Uint8Array {
  return leafNode(data, hash);
}

function leafNode(data: Uint8Array, hash: TreeHash): TreeNode {
  const input = data.length === HASH_BYTES ? leaf : new Uint8Array(1 + data.length);
  input[0] = LEAF;
  input.set(data, 1);
  return hashed(input, hash);
}

function innerNode(left: TreeNode, right: TreeNode, hash: TreeHash): TreeNode {
  node[0] = NODE;
  node.set(left, 1);
  node.set(right, 1 + HASH_BYTES);
  return hashed(node, hash);
}

function hashed(input: Uint8Array, hash: TreeHash): TreeNode {
  const bytes = hash(input);
  if (!isNode(bytes)) throw new RangeError(`a hash of a tree has ${HASH_BYTES} bytes, not ${bytes.length}`);
  return bytes;
}

/** A tree that only grows, in memory for its height: 32 bytes per full subtree. */
export interface MerkleFrontier {
  readonly size: number;
  append(data: Uint8Array): void;
  /** The root over all leaves so far; of none, the hash of nothing. */
  root(): Uint8Array;
}

export function merkleFrontier(hash: TreeHash = blake3): MerkleFrontier {
  /** The roots of the full subtrees, largest first: one per 1 in the binary size. */
  const subtrees: TreeNode[] = [];
  let size = 0;
  return {
    get size() {
      return size;
    },
    append(data) {
      let node = leafNode(data, hash);
      size++;
      for (let rest = size; rest % 2 === 0; rest /= 2) node = innerNode(present(subtrees.pop()), node, hash);
      subtrees.push(node);
    },
    root() {
      if (size === 0) return hashed(new Uint8Array(), hash);
      return subtrees.reduceRight((right, left) => innerNode(left, right, hash));
    },
  };
}

/** The root over leaves that are in memory (RFC 9162, section 2.1.1). */
export function merkleRoot(leaves: readonly Uint8Array[], hash: TreeHash = blake3): Uint8Array {
  const tree = merkleFrontier(hash);
  for (const leaf of leaves) tree.append(leaf);
  return tree.root();
}

/** The largest power of two below `size`, which is at least 2. */
function split(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

/**
 * The way from a leaf to the root (RFC 9162, section 2.1.3.1).
 *
 * @throws RangeError when there is no such leaf: a bug in the caller.
 */
export function inclusionProof(leaves: readonly Uint8Array[], index: number, hash: TreeHash = blake3): Uint8Array[] {
  if (!(index >= 0 && index < leaves.length)) throw new RangeError(`a tree of ${leaves.length} has no leaf ${index}`);
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return index < k
    ? [...inclusionProof(left, index, hash), merkleRoot(right, hash)]
    : [...inclusionProof(right, index - k, hash), merkleRoot(left, hash)];
}

/**
 * That the tree of the first `size` leaves is the beginning of the tree of all (RFC 9162, section 2.1.4.1).
 *
 * @throws RangeError when `size` is not between 1 and the number of leaves: a bug in the caller.
 */
export function consistencyProof(leaves: readonly Uint8Array[], size: number, hash: TreeHash = blake3): Uint8Array[] {
  if (!(size >= 1 && size <= leaves.length)) throw new RangeError(`a tree of ${leaves.length} has no first ${size}`);
  return subproof(leaves, size, true, hash);
}

function subproof(leaves: readonly Uint8Array[], size: number, whole: boolean, hash: TreeHash): Uint8Array[] {
  if (size === leaves.length) return whole ? [] : [merkleRoot(leaves, hash)];
  const k = split(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return size <= k
    ? [...subproof(left, size, whole, hash), merkleRoot(right, hash)]
    : [...subproof(right, size - k, false, hash), merkleRoot(left, hash)];
}

/**
 * Whether `data` is leaf `index` of the tree with `size` leaves and that root (RFC 9162, section 2.1.3.2). A root or a node of another
 * length than 32 bytes proves nothing. No claim makes it throw.
 */
export function verifyInclusion(
  claim: {
    readonly data: Uint8Array;
    readonly index: number;
    readonly size: number;
    readonly root: Uint8Array;
    readonly proof: readonly Uint8Array[];
  },
  hash: TreeHash = blake3,
): boolean {
  const { data, index, size, root, proof } = claim;
  if (!isSize(size) || !isSize(index) || index >= size || !isNode(root) || !proof.every(isNode)) return false;
  let fn = index;
  let sn = size - 1;
  let r = leafNode(data, hash);
  for (const p of proof) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      r = innerNode(p, r, hash);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else {
      r = innerNode(r, p, hash);
    }
    [fn, sn] = [half(fn), half(sn)];
  }
  return sn === 0 && equal(r, root);
}

/**
 * Whether the second tree begins with the first (RFC 9162, section 2.1.4.2). A root or a node of another length than 32 bytes
 * proves nothing. No claim makes it throw.
 */
export function verifyConsistency(
  claim: {
    readonly firstSize: number;
    readonly firstRoot: Uint8Array;
    readonly secondSize: number;
    readonly secondRoot: Uint8Array;
    readonly proof: readonly Uint8Array[];
  },
  hash: TreeHash = blake3,
): boolean {
  const { firstSize, firstRoot, secondSize, secondRoot, proof } = claim;
  if (!isSize(firstSize) || !isSize(secondSize) || firstSize < 1 || firstSize > secondSize) return false;
  if (!isNode(firstRoot) || !isNode(secondRoot) || !proof.every(isNode)) return false;
  if (firstSize === secondSize) return proof.length === 0 && equal(firstRoot, secondRoot);
  const [first, ...path] = isPowerOfTwo(firstSize) ? [firstRoot, ...proof] : proof;
  if (first === undefined) return false;
  let fn = firstSize - 1;
  let sn = secondSize - 1;
  while (fn % 2 === 1) [fn, sn] = [half(fn), half(sn)];
  let fr = first;
  let sr = first;
  for (const c of path) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      fr = innerNode(c, fr, hash);
      sr = innerNode(c, sr, hash);
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [half(fn), half(sn)];
    } else {
      sr = innerNode(sr, c, hash);
    }
    [fn, sn] = [half(fn), half(sn)];
  }
  return sn === 0 && equal(fr, firstRoot) && equal(sr, secondRoot);
}

/** Sizes beyond 32 bits are sizes too: no bit operators. */
const half = (n: number): number => Math.floor(n / 2);
const isSize = (n: number): boolean => Number.isSafeInteger(n) && n >= 0;

function isPowerOfTwo(n: number): boolean {
  let power = 1;
  while (power < n) power *= 2;
  return power === n;
}

function equal(a: TreeNode, b: TreeNode): boolean {
  return a.every((byte, i) => byte === b[i]);
}
