import type { RunSpent } from "@keyhole/agents/agent-run";
import { parseUrl } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import { Button } from "../ui/Button.tsx";
import { Choice } from "../ui/Choice.tsx";
import { Input, Label, TextField } from "../ui/TextField.tsx";
import { budgetKinds } from "./BudgetBar.tsx";
import { choiceFault, type ModelChoice, modelKinds, modelTexts } from "./models.ts";

interface ModelFormProps {
  readonly choice: ModelChoice;
  readonly budget: RunSpent;
  readonly onChoose: (choice: ModelChoice, budget: RunSpent) => void;
}

const options = modelKinds.map((kind) => ({ id: kind, text: modelTexts[kind].name }));

/** The model, the person's key and the budget of the next run. */
export function ModelForm({ choice, budget, onChoose }: ModelFormProps): ReactNode {
  const [draft, setDraft] = useState(choice);
  const [amounts, setAmounts] = useState<Record<keyof RunSpent, string>>(() => textsOf(budget));
  const fault = choiceFault(draft) || amountFault(amounts);
  const set = (more: Partial<ModelChoice>): void => setDraft({ ...draft, ...more });
  return (
    <form
      className="pane sunken agent-model"
      aria-label="Model and budget"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        if (fault === "") onChoose(draft, numbersOf(amounts));
      }}
    >
      <Choice
        label="Model"
        value={draft.kind}
        options={options}
        onChange={(id) => {
          const kind = modelKinds.find((each) => each === id) ?? "scripted";
          const { address, model } = modelTexts[kind];
          set({ kind, address, model, key: "" });
        }}
      />
      {draft.kind !== "scripted" && <Endpoint draft={draft} set={set} />}
      <fieldset className="stack-m agent-amounts">
        <legend className="bar label">Budget of the run</legend>
        {budgetKinds.map((kind) => (
          <TextField key={kind} value={amounts[kind]} onChange={(text) => setAmounts({ ...amounts, [kind]: text })}>
            <Label>{kind}</Label>
            <Input className="input" inputMode="numeric" autoComplete="off" />
          </TextField>
        ))}
      </fieldset>
      {fault !== "" && <p className="fault">{fault}</p>}
      <Button type="submit" look="primary" isUnavailable={fault !== ""}>
        Begin a new run
      </Button>
    </form>
  );
}

interface EndpointProps {
  readonly draft: ModelChoice;
  readonly set: (more: Partial<ModelChoice>) => void;
}

function Endpoint({ draft, set }: EndpointProps): ReactNode {
  return (
    <>
      <TextField value={draft.address} onChange={(address) => set({ address })}>
        <Label>Address of the API</Label>
        <Input className="input" inputMode="url" autoComplete="off" spellCheck={false} />
      </TextField>
      <TextField value={draft.model} onChange={(model) => set({ model })}>
        <Label>Name of the model</Label>
        <Input className="input" autoComplete="off" spellCheck={false} />
      </TextField>
      <TextField type="password" value={draft.key} onChange={(key) => set({ key })}>
        <Label>Key</Label>
        <Input className="input" autoComplete="off" spellCheck={false} />
        <p className="hint">
          The key stays in the memory of this tab: a reload forgets it. It is sent to {hostOf(draft.address)} alone, and
          no tool sees it.
        </p>
      </TextField>
    </>
  );
}

function hostOf(address: string): string {
  return parseUrl(address)?.host ?? "the address above";
}

function textsOf({ tokens, fuel, calls }: RunSpent): Record<keyof RunSpent, string> {
  return { tokens: String(tokens), fuel: String(fuel), calls: String(calls) };
}

function numbersOf({ tokens, fuel, calls }: Record<keyof RunSpent, string>): RunSpent {
  return { tokens: Number(tokens), fuel: Number(fuel), calls: Number(calls) };
}

function amountFault(amounts: Record<keyof RunSpent, string>): string {
  const wrong = budgetKinds.find((kind) => !/^[1-9]\d{0,11}$/.test(amounts[kind]));
  return wrong === undefined ? "" : `The budget of ${wrong} is not a whole number above 0.`;
}
