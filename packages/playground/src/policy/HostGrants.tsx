import { type PolicyDocument, visible } from "@keyhole/kernel";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { FieldError, FieldHint, Input, Label, TextField } from "../ui/TextField.tsx";
import { Button, IconButton } from "../ui/Button.tsx";
import { hostGrants, parseHost, withHost, withoutGrant } from "./edit.ts";

interface HostGrantsProps {
  readonly document: PolicyDocument;
  readonly onChange: (document: PolicyDocument) => void;
}

/** The commonest change to a policy: let http_fetch reach one more host. */
export function HostGrants({ document, onChange }: HostGrantsProps): ReactNode {
  const grants = hostGrants(document);
  return (
    <div className="field">
      <NewHost onAdd={({ host, port }) => onChange(withHost(document, host, port))} />
      {grants.length > 0 && (
        <ul className="chips" aria-label="Hosts that http_fetch may reach">
          {grants.map((grant) => (
            <li className="chip" key={grant.index}>
              <span className="mono">{visible(grant.text)}</span>
              <IconButton
                icon="close"
                label={`Remove ${grant.text}`}
                onPress={() => onChange(withoutGrant(document, grant.index))}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

type Host = Extract<ReturnType<typeof parseHost>, { ok: true }>;

function NewHost({ onAdd }: { readonly onAdd: (host: Host) => void }): ReactNode {
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const add = (): void => {
    const parsed = parseHost(text);
    if (!parsed.ok) return setFault(parsed.message);
    setText("");
    setFault("");
    onAdd(parsed);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    add();
  };
  return (
    <div className="row">
      <TextField
        value={text}
        onChange={(typed) => {
          setText(typed);
          setFault("");
        }}
        isInvalid={fault !== ""}
      >
        <Label>Host that http_fetch may read</Label>
        <Input
          className="input mono"
          placeholder="example.com"
          onKeyDown={onKeyDown}
          autoComplete="off"
          spellCheck={false}
        />
        <FieldHint>The host must allow this page by CORS headers.</FieldHint>
        <FieldError>{fault}</FieldError>
      </TextField>
      <Button icon="plus" onPress={add}>
        Add host
      </Button>
    </div>
  );
}
