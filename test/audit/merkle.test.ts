import { createHash } from "node:crypto";
import {
  consistencyProof,
  inclusionProof,
  merkleFrontier,
  merkleRoot,
  verifyConsistency,
  verifyInclusion,
} from "@keyhole/kernel/audit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash("sha256").update(bytes).digest());
const fromHex = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));

/** The leaves and roots with which implementations of Certificate Transparency test each other. */
const leaves = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"].map(
  fromHex,
);
const roots = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

describe("a Merkle tree", () => {
  it.each(roots.map((root, size) => [size, root] as const))("of %d leaves has the published root", (size, root) => {
    expect(Buffer.from(merkleRoot(leaves.slice(0, size), sha256)).toString("hex")).toBe(root);
  });

  const many = Array.from({ length: 40 }, (_, i) => Uint8Array.of(i, i + 1));

  it("proves each leaf of each size, and no other", () => {
    for (let size = 1; size <= many.length; size++) {
      const tree = many.slice(0, size);
      const root = merkleRoot(tree);
      for (let index = 0; index < size; index++) {
        const claim = { data: many[index]!, index, size, root, proof: inclusionProof(tree, index) };
        expect(verifyInclusion(claim)).toBe(true);
        expect(verifyInclusion({ ...claim, data: Uint8Array.of(99) })).toBe(false);
        expect(verifyInclusion({ ...claim, index: (index + 1) % size }) && size > 1).toBe(false);
        expect(verifyInclusion({ ...claim, proof: [...claim.proof, root] })).toBe(false);
        if (claim.proof.length > 0) expect(verifyInclusion({ ...claim, proof: claim.proof.slice(1) })).toBe(false);
      }
    }
  });

  it("proves each beginning, and no other", () => {
    for (let secondSize = 1; secondSize <= many.length; secondSize++) {
      const tree = many.slice(0, secondSize);
      const secondRoot = merkleRoot(tree);
      for (let firstSize = 1; firstSize <= secondSize; firstSize++) {
        const firstRoot = merkleRoot(tree.slice(0, firstSize));
        const claim = { firstSize, firstRoot, secondSize, secondRoot, proof: consistencyProof(tree, firstSize) };
        expect(verifyConsistency(claim)).toBe(true);
        expect(verifyConsistency({ ...claim, proof: [...claim.proof, secondRoot] })).toBe(false);
        const rewritten = merkleRoot(tree.slice(0, firstSize).with(0, Uint8Array.of(77)));
        expect(verifyConsistency({ ...claim, firstRoot: rewritten })).toBe(false);
      }
    }
  });

  it("refuses claims of any shape", () => {
    const bytes = fc.uint8Array({ maxLength: 40 });
    const number = fc.oneof(fc.integer(), fc.double(), fc.nat(10));
    fc.assert(
      fc.property(bytes, number, number, fc.array(bytes, { maxLength: 5 }), (data, a, b, proof) => {
        expect(verifyInclusion({ data, index: a, size: b, root: data, proof })).toBe(false);
        const isSameTree = a === b && proof.length === 0 && data.length === 32;
        expect(
          verifyConsistency({ firstSize: a, firstRoot: data, secondSize: b, secondRoot: data, proof }) && !isSameTree,
        ).toBe(false);
      }),
    );
  });

  const sizes = [
    [1, 2],
    [4, 4],
    [4, 7],
    [6, 7],
    [8, 40],
  ] as const;
  const odd = Array.from({ length: 81 }, (_, length) => new Uint8Array(length)).filter(({ length }) => length !== 32);

  it.each(sizes)(
    "of %d and %d leaves takes no hash of other than 32 bytes for a root or a node",
    (size, secondSize) => {
      const tree = many.slice(0, secondSize);
      const [firstRoot, root] = [merkleRoot(tree.slice(0, size)), merkleRoot(tree)];
      const proof = consistencyProof(tree, size);
      const consistency = { firstSize: size, firstRoot, secondSize, secondRoot: root, proof };
      const path = inclusionProof(tree, size - 1);
      const inclusion = { data: many[size - 1]!, index: size - 1, size: secondSize, root, proof: path };
      expect(verifyConsistency(consistency) && verifyInclusion(inclusion)).toBe(true);
      for (const bytes of odd) {
        expect(verifyConsistency({ ...consistency, firstRoot: bytes })).toBe(false);
        expect(verifyConsistency({ ...consistency, secondRoot: bytes })).toBe(false);
        expect(verifyConsistency({ ...consistency, firstRoot: bytes, secondRoot: bytes })).toBe(false);
        expect(verifyInclusion({ ...inclusion, root: bytes })).toBe(false);
        for (let at = 0; at < proof.length; at++)
          expect(verifyConsistency({ ...consistency, proof: proof.with(at, bytes) })).toBe(false);
        for (let at = 0; at < path.length; at++)
          expect(verifyInclusion({ ...inclusion, proof: path.with(at, bytes) })).toBe(false);
      }
    },
  );

  it("takes no shorter or longer beginning of a root for the root", () => {
    const tree = many.slice(0, 7);
    const [firstRoot, secondRoot] = [merkleRoot(tree.slice(0, 4)), merkleRoot(tree)];
    const claim = { firstSize: 4, firstRoot, secondSize: 7, secondRoot, proof: consistencyProof(tree, 4) };
    for (const other of [firstRoot.slice(0, 31), Uint8Array.of(...firstRoot, 0), new Uint8Array()])
      expect(verifyConsistency({ ...claim, firstRoot: other })).toBe(false);
  });

  it("is not made with a hash function that does not give 32 bytes", () => {
    for (const length of [0, 20, 31, 33, 64]) {
      const foreign = (): Uint8Array => new Uint8Array(length);
      expect(() => merkleRoot([], foreign)).toThrow(RangeError);
      expect(() => merkleRoot(many.slice(0, 2), foreign)).toThrow(RangeError);
    }
  });

  it("grows without its leaves", () => {
    const tree = merkleFrontier();
    for (const [i, leaf] of many.entries()) {
      tree.append(leaf);
      expect(tree.root()).toEqual(merkleRoot(many.slice(0, i + 1)));
    }
    expect(tree.size).toBe(40);
  });

  it("asked for what it does not have, throws", () => {
    expect(() => inclusionProof(many, 40)).toThrow(RangeError);
    expect(() => inclusionProof(many, -1)).toThrow(RangeError);
    expect(() => consistencyProof(many, 0)).toThrow(RangeError);
    expect(() => consistencyProof(many, 41)).toThrow(RangeError);
  });
});
