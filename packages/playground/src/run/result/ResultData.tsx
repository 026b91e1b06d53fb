import { type ReactNode, useMemo, useState } from "react";
import { bytesText } from "../../app/words.ts";
import { Button } from "../../ui/Button.tsx";
import { CopyButton } from "../../ui/CopyButton.tsx";
import { saveFile } from "../../ui/save.ts";
import { Segmented } from "../../ui/Segmented.tsx";
import { HexView } from "./HexView.tsx";
import { jsonLength } from "./size.ts";
import { TableView } from "./TableView.tsx";
import { TextView } from "./TextView.tsx";
import { TreeView } from "./TreeView.tsx";
import { type View, viewsOf } from "./views.ts";

interface ResultDataProps {
  readonly data: unknown;
  /** Of the file that it is saved as, without an ending. */
  readonly name: string;
}

/** A person saves a longer text instead of copying it: a clipboard of many megabytes helps nobody. */
const mostText = 8 << 20;

/** The answer of a tool, in every form that a person can look at. */
export function ResultData({ data, name }: ResultDataProps): ReactNode {
  const isLong = useMemo(() => !(data instanceof Uint8Array) && jsonLength(data, mostText) > mostText, [data]);
  const views = useMemo(() => viewsOf(data).filter(({ id }) => !isLong || id !== "raw"), [data, isLong]);
  const [wanted, choose] = useState<View["id"]>();
  const view = views.find(({ id }) => id === wanted) ?? views[0]!;
  return (
    <section className="stack-m shrinks" aria-label="Result">
      <div className="bar result-bar">
        <span className="muted">
          {sizeText(data)}
          {isLong && `, more than ${bytesText(mostText)}: save it instead of copying`}
        </span>
        <span className="line result-tools">
          {views.length > 1 && (
            <Segmented
              label="Show the result as"
              value={view.id}
              options={views.map(({ id, text }) => ({ value: id, text }))}
              onChange={choose}
            />
          )}
          <SaveOrCopy data={data} name={name} isLong={isLong} />
        </span>
      </div>
      <ShownAs view={view} />
    </section>
  );
}

function ShownAs({ view }: { readonly view: View }): ReactNode {
  switch (view.id) {
    case "tree":
      return <TreeView value={view.value} />;
    case "table":
      return <TableView table={view.table} />;
    case "text":
      return <TextView text={view.content} />;
    case "image":
      return <ImageView bytes={view.bytes} type={view.type} />;
    case "hex":
      return <HexView bytes={view.bytes} />;
    case "raw":
      return <RawView content={view.content} />;
  }
}

function RawView({ content }: { readonly content: () => string }): ReactNode {
  const text = useMemo(() => content(), [content]);
  return <TextView text={text} isJson />;
}

function ImageView({ bytes, type }: { readonly bytes: Uint8Array; readonly type: string }): ReactNode {
  /** The address lives as long as the picture. */
  const show = (image: HTMLImageElement): (() => void) => {
    const address = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type }));
    image.src = address;
    return () => URL.revokeObjectURL(address);
  };
  return (
    <figure className="stack-s result-image">
      <img ref={show} alt="What the tool answered" />
      <figcaption className="hint">
        {type}, {bytesText(bytes.byteLength)}
      </figcaption>
    </figure>
  );
}

interface SaveOrCopyProps extends ResultDataProps {
  readonly isLong: boolean;
}

function SaveOrCopy({ data, name, isLong }: SaveOrCopyProps): ReactNode {
  if (data instanceof Uint8Array)
    return (
      <Button look="quiet" icon="download" onPress={() => saveFile(`${name}.bin`, new Uint8Array(data))}>
        Save {bytesText(data.byteLength)}
      </Button>
    );
  if (!isLong) return <CopyText data={data} />;
  const ending = typeof data === "string" ? "txt" : "json";
  return (
    <Button look="quiet" icon="download" onPress={() => saveFile(`${name}.${ending}`, textOf(data))}>
      Save as {name}.{ending}
    </Button>
  );
}

function CopyText({ data }: Pick<ResultDataProps, "data">): ReactNode {
  const text = useMemo(() => textOf(data), [data]);
  return <CopyButton text={text} what="the result" />;
}

function textOf(data: unknown): string {
  return typeof data === "string" ? data : (JSON.stringify(data, undefined, 2) ?? "");
}

function sizeText(data: unknown): string {
  if (data instanceof Uint8Array) return bytesText(data.byteLength);
  if (typeof data === "string") return `a text of ${count(data.length, "character")}`;
  if (Array.isArray(data)) return count(data.length, "item");
  if (typeof data === "object" && data !== null) return count(Object.keys(data).length, "member");
  return data === undefined ? "no value" : typeof data;
}

function count(number: number, what: string): string {
  return number === 1 ? `1 ${what}` : `${number.toLocaleString("en")} ${what}s`;
}
