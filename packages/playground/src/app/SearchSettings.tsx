import { type PolicyDocument, visible } from "@keyhole/kernel";
import { type SubmitEvent, type ReactNode, useState } from "react";
import { FieldError, Input, Label, TextField } from "../ui/TextField.tsx";
import { faultOf, type Governance } from "../client/kernel-client.ts";
import { loadSearch, readSearch, saveSearch } from "../client/search-settings.ts";
import { withSearch } from "../policy/edit.ts";
import { Button } from "../ui/Button.tsx";
import { Sheet } from "../ui/Sheet.tsx";

interface SearchSettingsProps {
  readonly governance: Governance | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

export function SearchSettingsSheet({ governance, onClose, onSaved }: SearchSettingsProps): ReactNode {
  return (
    <Sheet title="Web search" onClose={onClose}>
      <SearchForm governance={governance} onSaved={onSaved} />
    </Sheet>
  );
}

const notAnAddress = "This is not the address of a search. Write one like https://search.example.org/search.";

function SearchForm({ governance, onSaved }: Omit<SearchSettingsProps, "onClose">): ReactNode {
  const { address, fault, type, submit, remove } = useSearchAddress(governance, onSaved);
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <p>
        <code>web_search</code> asks a search engine that speaks the JSON of SearXNG. Keyhole comes with none.
      </p>
      <TextField value={address} onChange={type} isInvalid={fault !== ""}>
        <Label>Address of the search</Label>
        <Input
          className="input mono"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          placeholder="https://search.example.org/search"
        />
        <FieldError>{visible(fault)}</FieldError>
      </TextField>
      <p className="hint">
        The engine has to answer in JSON (its setting <code>search.formats</code>) and to let this page read it (CORS).
        One of your own at <code>http://127.0.0.1:8888/search</code> will do.
      </p>
      <p className="hint">
        Saving starts the kernel anew with the tool for this address, and grants it this host in the policy, for{" "}
        <code>GET</code> alone.
      </p>
      <div className="bar">
        <Button look="primary" type="submit">
          Save
        </Button>
        {loadSearch() !== undefined && <Button onPress={remove}>Remove the tool</Button>}
      </div>
    </form>
  );
}

interface SearchAddress {
  readonly address: string;
  /** Why the page did not save it; empty where nothing is wrong. */
  readonly fault: string;
  readonly type: (typed: string) => void;
  readonly submit: (event: SubmitEvent) => void;
  readonly remove: () => void;
}

/** The address as the person types it. Saved, it is in the policy and in the page's storage, or in neither. */
function useSearchAddress(governance: Governance | undefined, onSaved: () => void): SearchAddress {
  const [address, setAddress] = useState(() => loadSearch() ?? "");
  const [fault, setFault] = useState("");
  const save = async (wanted: string | undefined): Promise<void> => {
    try {
      const { policy } = (await governance?.read()) ?? {};
      const applied = await governance?.setPolicy?.(withSearch(policy as unknown as PolicyDocument, wanted) as never);
      if (applied?.ok !== true)
        return setFault(applied?.error.message ?? "The policy of this kernel cannot be changed.");
      saveSearch(wanted);
      onSaved();
    } catch (error) {
      setFault(faultOf(error).message);
    }
  };
  return {
    address,
    fault,
    type(typed) {
      setAddress(typed);
      setFault("");
    },
    submit(event) {
      event.preventDefault();
      const wanted = readSearch(address);
      if (wanted === undefined) setFault(notAnAddress);
      else void save(wanted);
    },
    remove: () => void save(undefined),
  };
}
