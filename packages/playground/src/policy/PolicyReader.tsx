import type { JsonValue } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { Json } from "../ui/Json.tsx";
import { Notice } from "../ui/Notice.tsx";

/** Where the operator of the kernel sets the policy. */
export function PolicyReader({ policy }: { readonly policy: JsonValue }): ReactNode {
  return (
    <>
      <Notice tone="neutral" title="This policy can only be read here">
        <p>
          Whoever runs this edge sets it: in <code>packages/edge/policy.json</code>, or in the variable{" "}
          <code>KEYHOLE_POLICY</code>, which takes its place.
        </p>
      </Notice>
      <Json value={policy} label="Policy" />
    </>
  );
}
