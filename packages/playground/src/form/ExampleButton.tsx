import type { JsonObject } from "@keyhole/kernel";
import { type ReactNode, useState } from "react";
import { Button } from "../ui/Button.tsx";
import { examplesOf } from "./schema.ts";
import { filledWith } from "./value.ts";

interface ExampleButtonProps {
  readonly input: JsonObject;
  readonly onFill: (filled: JsonObject) => void;
}

/** Fills the form with what the tool's author gives as examples of its input, one after the other. */
export function ExampleButton({ input, onFill }: ExampleButtonProps): ReactNode {
  const examples = examplesOf(input);
  const [filled, setFilled] = useState(0);
  const next = examples[filled % examples.length];
  if (next === undefined) return null;
  const fill = (): void => {
    setFilled(filled + 1);
    onFill(filledWith(next, input));
  };
  return (
    <Button look="quiet" onPress={fill}>
      {filled > 0 && examples.length > 1 ? "Another example" : "Fill in an example"}
    </Button>
  );
}
