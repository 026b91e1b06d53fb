import { assert, integer, property, string, stringMatching, uniqueArray } from "fast-check";
import { expect, it } from "vitest";
import {
  callerIn,
  callReads,
  countedRule,
  countIn,
  countRead,
  labelObligation,
  labelsOf,
  labelsRead,
  labelsTextIn,
  obligedLabels,
  sessionIn,
} from "../../packages/kernel/src/policy/decision/state-reads.ts";

const label = stringMatching(/^[a-z][a-z0-9._-]{0,20}$/);

it("what a decision read is read again as it was written, and nothing else is", () => {
  assert(
    property(string(), string(), uniqueArray(label), string(), integer(), (caller, sessionId, labels, rule, count) => {
      const reads = [...callReads({ caller, sessionId }), labelsRead(labels), countRead(rule, count)];
      expect([callerIn(reads), sessionIn(reads)]).toEqual([caller, sessionId]);
      expect(labelsOf(labelsTextIn(reads) ?? "")).toEqual(labels);
      expect(countIn(reads, rule)).toBe(count);
      expect(countIn(reads, `${rule}x`)).toBeUndefined();
      expect(reads.map(countedRule)).toEqual([undefined, undefined, undefined, rule]);
    }),
  );
});

it("labels that a call demands are found among its other obligations", () => {
  assert(
    property(uniqueArray(label), (labels) => {
      expect(obligedLabels(["approval", "body", ...labels.map(labelObligation)])).toEqual(labels);
    }),
  );
});
