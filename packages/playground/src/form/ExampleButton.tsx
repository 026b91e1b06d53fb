import type { JsonObject } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { Button } from "../ui/Button.tsx";
import { examplesOf } from "./schema.ts";
import { filledWith } from "./value.ts";

interface ExampleButtonProps {
  readonly input: JsonObject;
  /** How often it was filled: while the tool runs the button is not there, and goes on afterwards. */
  readonly fills: number;
  readonly onFill: (filled: JsonObject) => void;
}

/** Fills the form with what the tool's author gives as examples of its input, one after the other. */
export function ExampleButton({ input, fills, onFill }: ExampleButtonProps): ReactNode {
  const examples = examplesOf(input);
  const next = examples[fills % examples.length];
  if (next === undefined) return null;
  return (
    <Button look="quiet" onPress={() => onFill(filledWith(next, input))}>
      {fills > 0 && examples.length > 1 ? "Another example" : "Fill in an example"}
    </Button>
  );
}
