import { visible } from "@keyhole/kernel";
import { type ReactNode, useRef } from "react";
import { bytesText } from "../app/words.ts";
import { Button } from "../ui/Button.tsx";
import { GroupLabel } from "./FieldFrame.tsx";

interface FileFieldProps {
  readonly mediaType: string | undefined;
  readonly file: File | undefined;
  readonly isMissing: boolean;
  readonly onChoose: (file: File) => void;
}

/** The body of a call: a file of the person's, which the page reads while the tool does. */
export function FileField({ mediaType, file, isMissing, onChoose }: FileFieldProps): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <fieldset className="field" aria-labelledby="body-label" aria-describedby="body-hint">
      <GroupLabel label="File" required id="body-label" />
      <div className="bar file">
        <input
          ref={input}
          type="file"
          hidden
          accept={mediaType}
          onChange={({ currentTarget }) => {
            const [first] = currentTarget.files ?? [];
            if (first) onChoose(first);
            // A person may choose the same file again after a change.
            currentTarget.value = "";
          }}
        />
        <Button icon="upload" onPress={() => input.current?.click()}>
          {file ? "Choose another file" : "Choose a file"}
        </Button>
        <output className="wrap shrinks">
          {file ? `${visible(file.name)}, ${bytesText(file.size)}` : <span className="muted">No file chosen</span>}
        </output>
      </div>
      <p className="hint" id="body-hint">
        Its bytes flow to the tool as it reads them{mediaType === undefined ? "" : `: ${visible(mediaType)}`}.
      </p>
      {isMissing && (
        <p className="fault" role="alert">
          This tool works on a file. Choose one.
        </p>
      )}
    </fieldset>
  );
}
