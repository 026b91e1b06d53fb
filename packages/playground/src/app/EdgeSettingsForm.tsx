import { type SubmitEvent, type ReactNode, useState } from "react";
import { FieldError, Input, Label, TextField } from "../ui/TextField.tsx";
import { readAddress } from "@keyhole/worker-host/edge-protocol";
import { loadEdgeSettings, saveEdgeSettings } from "../client/edge-settings.ts";
import { Button } from "../ui/Button.tsx";
import { Sheet } from "../ui/Sheet.tsx";

interface EdgeSettingsFormProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function EdgeSettingsSheet({ isOpen, onClose, onSaved }: EdgeSettingsFormProps): ReactNode {
  return (
    <Sheet title="Edge" isOpen={isOpen} onClose={onClose}>
      <EdgeSettingsForm onSaved={onSaved} />
    </Sheet>
  );
}

function EdgeSettingsForm({ onSaved }: { readonly onSaved: () => void }): ReactNode {
  const [address, setAddress] = useState(() => loadEdgeSettings()?.address ?? "http://127.0.0.1:8701");
  const [token, setToken] = useState(() => loadEdgeSettings()?.token ?? "");
  const [isInvalid, setInvalid] = useState(false);

  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const origin = readAddress(address);
    if (origin === undefined) return setInvalid(true);
    saveEdgeSettings({ address: origin, token: token.trim() });
    onSaved();
  };
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <p className="hint">
        <code>npm start</code> prints the address and the token of the edge that it starts.
      </p>
      <TextField
        value={address}
        onChange={(typed) => {
          setAddress(typed);
          setInvalid(false);
        }}
        isInvalid={isInvalid}
      >
        <Label>Address</Label>
        <Input className="input mono" inputMode="url" autoComplete="off" spellCheck={false} />
        <FieldError>
          This is not an http address, or it is plain http to another machine. Write one like http://127.0.0.1:8701 or
          https://edge.example.com.
        </FieldError>
      </TextField>
      <TextField value={token} onChange={setToken} type="password">
        <Label>Token</Label>
        <Input className="input mono" autoComplete="off" spellCheck={false} />
      </TextField>
      <p className="hint">Kept in this tab only, and sent to this address only.</p>
      <div className="actions">
        <Button look="primary" type="submit">
          Connect
        </Button>
      </div>
    </form>
  );
}
