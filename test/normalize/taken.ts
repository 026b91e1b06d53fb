import { parseJson, snapshot, type SnapshotLimits } from "../../packages/kernel/src/index.ts";

export const taken = (value: unknown, limits?: SnapshotLimits): unknown => {
  const result = snapshot(value, limits);
  return result.ok ? result.value : [result.error.reason, result.error.path];
};

export const parsed = (text: string, limits?: SnapshotLimits): unknown => {
  const result = parseJson(text, limits);
  return result.ok ? result.value : [result.error.reason, result.error.path];
};
