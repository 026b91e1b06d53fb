import type { ReactNode } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { IconButton } from "./Button.tsx";
import { ErrorBoundary } from "./ErrorBoundary.tsx";
import { visible } from "@keyhole/kernel";

interface SheetProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog along the right edge; the whole screen on a phone. Escape closes it. */
export function Sheet({ title, isOpen, onClose, children }: SheetProps): ReactNode {
  return (
    <ModalOverlay className="overlay" isOpen={isOpen} onOpenChange={(open) => !open && onClose()} isDismissable>
      <Modal className="sheet">
        <Dialog className="sheet-body">
          <header className="line sheet-head">
            <Heading slot="title">{visible(title)}</Heading>
            <IconButton icon="close" label={`Close ${title}`} onPress={onClose} />
          </header>
          <div className="stack sheet-content">
            <ErrorBoundary part={title}>{children}</ErrorBoundary>
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
