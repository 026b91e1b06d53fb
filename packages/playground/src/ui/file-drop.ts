import type { DragEvent } from "react";

interface FileDrop {
  readonly onDragOverCapture: (event: DragEvent) => void;
  readonly onDropCapture: (event: DragEvent) => void;
}

/**
 * The handlers of a part that takes dropped files. They come before those inside the part, where
 * an editor would insert the text of a file. A dragged text stays with the part inside.
 */
export function fileDrop(take: (files: readonly File[]) => void): FileDrop {
  const claims = (event: DragEvent): boolean => {
    if (!event.dataTransfer.types.includes("Files")) return false;
    // Without this the browser leaves the page for the file.
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return {
    onDragOverCapture: claims,
    onDropCapture: (event) => {
      if (claims(event)) take([...event.dataTransfer.files]);
    },
  };
}
