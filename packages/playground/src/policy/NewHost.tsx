import { type KeyboardEvent, type ReactNode, useState } from "react";
import { FieldError, FieldHint, Input, Label, TextField } from "../ui/TextField.tsx";
import { Button } from "../ui/Button.tsx";
import { parseHost } from "./edit.ts";

type Host = Extract<ReturnType<typeof parseHost>, { ok: true }>;

/** The commonest change to a policy: let http_fetch reach one more host. */
export function NewHost({ onAdd }: { readonly onAdd: (host: Host) => void }): ReactNode {
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
