import { type SubmitEvent, type ReactNode, useState } from "react";
import { FieldError, Input, Label, TextField } from "../ui/TextField.tsx";
import { hostOf, readKernelAddress } from "../client/edge-address.ts";
import {
  chooseEdge,
  loadEdges,
  loadEdgeSettings,
  type NamedEdge,
  removeEdge,
  saveEdgeSettings,
} from "../client/edge-settings.ts";
import { visible } from "@keyhole/kernel";
import { useSessionState } from "../session/useSession.ts";
import { Button } from "../ui/Button.tsx";
import { Sheet } from "../ui/Sheet.tsx";
import { trustOf, trustState, trustText } from "./edge-trust.ts";

interface EdgeSettingsFormProps {
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function EdgeSettingsSheet({ onClose, onSaved }: EdgeSettingsFormProps): ReactNode {
  return (
    <Sheet title="Edges" onClose={onClose}>
      <SavedEdges onSaved={onSaved} />
      <EdgeSettingsForm onSaved={onSaved} />
    </Sheet>
  );
}

/** Each edge with its host, and what its answers were worth. */
function SavedEdges({ onSaved }: { readonly onSaved: () => void }): ReactNode {
  const [edges, setEdges] = useState(loadEdges);
  const current = loadEdgeSettings()?.address;
  if (edges.length === 0) return null;
  return (
    <section aria-label="Edges of this tab">
      <ul className="stack-m edge-list">
        {edges.map((edge) => (
          <EdgeRow
            key={edge.address}
            edge={edge}
            isCurrent={edge.address === current}
            onUse={() => {
              chooseEdge(edge.address);
              onSaved();
            }}
            onRemove={() => {
              removeEdge(edge.address);
              setEdges(loadEdges());
              if (edge.address === current) onSaved();
            }}
          />
        ))}
      </ul>
    </section>
  );
}

interface EdgeRowProps {
  readonly edge: NamedEdge;
  readonly isCurrent: boolean;
  readonly onUse: () => void;
  readonly onRemove: () => void;
}

function EdgeRow({ edge: { name, address }, isCurrent, onUse, onRemove }: EdgeRowProps): ReactNode {
  const { heads } = useSessionState();
  const trust = trustOf(heads, address);
  const shown = visible(name === "" ? hostOf(address) : name);
  return (
    <li className="plain-list box wrap" aria-current={isCurrent ? "true" : undefined}>
      <b>{shown}</b>
      <code>{visible(address)}</code>
      <span className="hint edge-trust" data-trust={trustState(trust)}>
        {trustText(trust)}
      </span>
      <span className="bar">
        {isCurrent ? (
          <span className="hint">In use</span>
        ) : (
          <Button onPress={onUse} aria-label={`Use ${shown}`}>
            Use
          </Button>
        )}
        <Button look="quiet" onPress={onRemove} aria-label={`Forget ${shown}`}>
          Forget
        </Button>
      </span>
    </li>
  );
}

function EdgeSettingsForm({ onSaved }: { readonly onSaved: () => void }): ReactNode {
  const [address, setAddress] = useState(() => loadEdgeSettings()?.address ?? "http://127.0.0.1:8701");
  const [token, setToken] = useState(() => loadEdgeSettings()?.token ?? "");
  const [name, setName] = useState("");
  const [isInvalid, setInvalid] = useState(false);

  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const origin = readKernelAddress(address);
    if (origin === undefined) return setInvalid(true);
    saveEdgeSettings({ address: origin, token: token.trim(), name: name.trim() });
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
      <TextField value={name} onChange={setName}>
        <Label>
          Name <span className="optional">optional</span>
        </Label>
        <Input className="input" autoComplete="off" maxLength={60} />
      </TextField>
      <p className="hint">Kept in this tab only, and sent to this address only.</p>
      <div className="bar">
        <Button look="primary" type="submit">
          Connect
        </Button>
      </div>
    </form>
  );
}
