/*
 * Hints that several messages share. This module imports nothing: texts that load later need no more
 * of the kernel.
 */

export const bringFamily = "Give the kernel a broker that brings the family of this kind.";

/** Of a schema that refused a value without a place. */
export const bringExplanations = "Add explanations() to `extensions`: then the error names the place.";

export const restoreGrant =
  "Restore the grant with `kernel.grants.restore`, or set a milder mode, when the reason has ended.";
