import { type ApprovalRequest, visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import type { PasskeyAnswer } from "./usePasskey.ts";

interface PasskeyNoteProps {
  readonly request: ApprovalRequest;
  readonly passkey: PasskeyAnswer;
}

/** The passkey that an approval needs, and the outcome of the last attempt. */
export function PasskeyNote({ request, passkey }: PasskeyNoteProps): ReactNode {
  if (request.passkey === undefined) return null;
  const owners = [...new Set(request.passkey.keys.map(({ approver }) => approver))];
  return (
    <div>
      <p className="hint">A yes needs a passkey of {visible(owners.join(" or "))}. A denial needs none.</p>
      <output>{passkey.isWaiting && "Waiting for the passkey…"}</output>
      {passkey.fault !== "" && (
        <p className="fault" role="alert">
          No passkey was used: {visible(passkey.fault)} Try again, or deny.
        </p>
      )}
    </div>
  );
}
