/* Hints that several messages share. */

export const bringFamily = "Give the kernel a broker that brings the family of this kind.";

/** Of a schema that refused a value without a place. */
export const bringExplanations = "Give composeKernel `schemaParts: { explain }`: then the error names the place.";

export const restoreGrant =
  "Restore the grant with `kernel.grants.restore`, or set a milder mode, when the reason has ended.";
