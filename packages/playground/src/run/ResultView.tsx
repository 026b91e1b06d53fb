import { type CallSuccess, type ToolSummary, visible } from "@keyhole/kernel";
import type { ReactNode } from "react";
import { bytesText, costText } from "../app/words.ts";
import { Button } from "../ui/Button.tsx";
import { Fact } from "../ui/Fact.tsx";
import { saveFile } from "../ui/save.ts";
import { ResultData } from "./result/ResultData.tsx";

interface ResultViewProps {
  readonly result: CallSuccess;
  readonly tool: ToolSummary;
  /** The streamed output, where this page took it. */
  readonly file: Blob | undefined;
}

export function ResultView({ result, tool, file }: ResultViewProps): ReactNode {
  const { data, effects, meta } = result;
  const reference = tool.manifest.output.kind === "stream" ? referenceOf(data) : undefined;
  const cost = costText(meta);
  return (
    <div className="stack-l result">
      {reference ? (
        <Streamed reference={reference} tool={tool} file={file} />
      ) : (
        <ResultData data={data} name={tool.manifest.name} />
      )}
      <dl className="facts">
        <Fact name="Used">{effects.length === 0 ? "No effect" : effects.join(", ")}</Fact>
        {cost !== "" && <Fact name="Cost">{cost}</Fact>}
        {meta.networkBytes > 0 && <Fact name="Network">{bytesText(meta.networkBytes)}</Fact>}
        {meta.warnings.length > 0 && <Fact name="Warnings">{visible(meta.warnings.join(" "))}</Fact>}
      </dl>
    </div>
  );
}

/** An edge is foreign: the content that it names as a stream may be anything. */
function referenceOf(data: CallSuccess["data"]): Reference | undefined {
  if (typeof data !== "object" || data === null || !("byteLength" in data)) return undefined;
  const { byteLength, mediaType } = data as { readonly byteLength: unknown; readonly mediaType?: unknown };
  if (typeof byteLength !== "number") return undefined;
  return { byteLength, mediaType: typeof mediaType === "string" ? mediaType : undefined };
}

interface Reference {
  readonly byteLength: number;
  readonly mediaType: string | undefined;
}

interface StreamedProps extends Pick<ResultViewProps, "tool" | "file"> {
  readonly reference: Reference;
}

/** Of a stream the result says how much it was and what its digest is; the bytes are a file to save. */
function Streamed({ reference: { byteLength, mediaType }, tool, file }: StreamedProps): ReactNode {
  const isHere = file?.size === byteLength;
  const name = `${tool.manifest.name}.${mediaType?.startsWith("text/") === true ? "txt" : "bin"}`;
  return (
    <div className="stack-m streamed">
      <p>
        A stream of <strong>{bytesText(byteLength)}</strong>
        {mediaType !== undefined && `, ${visible(mediaType)}`}
      </p>
      {isHere ? (
        <Button icon="download" onPress={() => saveFile(name, file)}>
          Save {name}
        </Button>
      ) : (
        <p className="muted">
          Its bytes are not here: this browser sends a file of more than 8 MiB whole before it reads what comes back.
          The kernel at the edge counted and hashed them.
        </p>
      )}
    </div>
  );
}
