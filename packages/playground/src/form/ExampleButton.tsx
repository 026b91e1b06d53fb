import type { JsonObject, ToolSummary } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { Button } from "../ui/Button.tsx";
import { pageExamplesOf } from "./page-examples.ts";
import { examplesOf } from "./schema.ts";
import { filledWith } from "./value.ts";

interface ExampleButtonProps {
  readonly tool: ToolSummary;
  /** The number of fills: while the tool runs the button is absent, and continues afterwards. */
  readonly fills: number;
  readonly onFill: (filled: JsonObject) => void;
}

/** Fills the form with what the tool's author gives as examples of its input, one after the other. */
export function ExampleButton({ tool, fills, onFill }: ExampleButtonProps): ReactNode {
  const { input } = tool.manifest;
  const examples = [...pageExamplesOf(tool, placeOfPage()), ...examplesOf(input)];
  const next = examples[fills % examples.length];
  if (next === undefined) return null;
  return (
    <div className="example">
      <Button look="quiet" onPress={() => onFill(filledWith(next, input))}>
        {fills > 0 && examples.length > 1 ? "Another example" : "Fill in an example"}
      </Button>
    </div>
  );
}

/** Empty where nothing stands beside the page: it is one file, or no page. */
function placeOfPage(): string {
  const { location, document } = globalThis as { readonly location?: Location; readonly document?: Document };
  const isOneFile = document?.documentElement.hasAttribute("data-one-file") === true;
  return location === undefined || isOneFile ? "" : `${location.origin}${location.pathname}`;
}
