/** Bytes that the patterns of many validators keep; the test beside it starts this in a process of its own. */
import { compileSchema } from "@keyhole/kernel/schema";

const validators = Array.from({ length: 20 }, (_, at) => {
  const allOf = Array.from({ length: 300 }, (_each, n) => ({ pattern: `^[ab]*a[ab]{100}${at}x${n}?$` }));
  const compiled = compileSchema({ anyOf: allOf });
  if (!compiled.ok) throw new Error(compiled.error.message);
  return compiled.validator;
});
let random = 1;
const text = Array.from({ length: 2_000 }, () =>
  ((random = (random * 48_271) % 2_147_483_647) & 64) === 0 ? "a" : "b",
).join("");

const used = (): number => {
  (globalThis as unknown as { gc: () => void }).gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const before = used();
const accepted = validators.filter((validator) => validator.check(text)).length;
console.log(JSON.stringify({ accepted, bytes: used() - before, validators: validators.length }));
