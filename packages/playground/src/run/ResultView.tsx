import { type CallSuccess, type ToolSummary, visible } from "@keyhole/kernel";
import { type ReactNode, useMemo } from "react";
import { bytesText, costText } from "../app/words.ts";
import { Button } from "../ui/Button.tsx";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Json, Text } from "../ui/Json.tsx";
import { saveFile } from "../ui/save.ts";

interface ResultViewProps {
  readonly result: CallSuccess;
  readonly tool: ToolSummary;
  /** What the tool streamed, where this page took it. */
  readonly file: Blob | undefined;
}

export function ResultView({ result, tool, file }: ResultViewProps): ReactNode {
  const { data, hash, effects, meta } = result;
  const reference = tool.manifest.output.kind === "stream" ? referenceOf(data) : undefined;
  const cost = costText(meta);
  return (
    <div className="result">
      {reference ? <Streamed reference={reference} tool={tool} file={file} /> : <Data data={data} />}
      <dl className="facts">
        <dt>Hash</dt>
        <dd className="hash">
          <code>{visible(hash)}</code>
          <CopyButton text={hash} what="the hash" />
        </dd>
        <dt>Used</dt>
        <dd>{effects.length === 0 ? "No effect" : effects.join(", ")}</dd>
        {cost !== "" && (
          <>
            <dt>Cost</dt>
            <dd>{cost}</dd>
          </>
        )}
        {meta.networkBytes > 0 && (
          <>
            <dt>Network</dt>
            <dd>{bytesText(meta.networkBytes)}</dd>
          </>
        )}
        {meta.warnings.length > 0 && (
          <>
            <dt>Warnings</dt>
            <dd>{visible(meta.warnings.join(" "))}</dd>
          </>
        )}
      </dl>
    </div>
  );
}

function Data({ data }: { readonly data: CallSuccess["data"] }): ReactNode {
  if (data instanceof Uint8Array) return <Bytes bytes={data} />;
  const text = typeof data === "string" ? data : JSON.stringify(data, undefined, 2);
  return (
    <div className="code-frame">
      <span className="code-tools">
        <CopyButton text={text} what="the result" />
      </span>
      {typeof data === "string" ? (
        <Text text={data === "" ? "(empty text)" : data} label="Result" />
      ) : (
        <Json value={data} label="Result" />
      )}
    </div>
  );
}

/** An edge is foreign: what it says stands for a stream may be anything. */
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
    <div className="streamed">
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

const shownBytes = 512;
const bytesPerLine = 16;

function Bytes({ bytes }: { readonly bytes: Uint8Array }): ReactNode {
  const dump = useMemo(() => hexDump(bytes.subarray(0, shownBytes)), [bytes]);
  return (
    <div className="code-frame bytes">
      <span className="code-tools">
        <Button look="quiet" icon="download" onPress={() => saveFile("result.bin", new Uint8Array(bytes))}>
          Save {bytesText(bytes.byteLength)}
        </Button>
      </span>
      <Text text={bytes.byteLength > shownBytes ? `${dump}\n…` : dump} label="Result, the first bytes" />
    </div>
  );
}

function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let start = 0; start < bytes.length; start += bytesPerLine) {
    const row = [...bytes.subarray(start, start + bytesPerLine)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const text = row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    lines.push(`${start.toString(16).padStart(6, "0")}  ${hex.padEnd(bytesPerLine * 3 - 1)}  ${text}`);
  }
  return lines.join("\n");
}
