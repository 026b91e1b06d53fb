import type { ReactNode } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";
import { IconButton } from "./Button.tsx";
import { ErrorBoundary } from "./ErrorBoundary.tsx";
import { visible } from "@keyhole/kernel";

interface SheetProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog along the right edge; the whole screen on a phone. Escape closes it. */
export function Sheet({ title, onClose, children }: SheetProps): ReactNode {
  return (
    <ModalOverlay className="overlay" isOpen onOpenChange={(open) => !open && onClose()} isDismissable>
      <Modal className="surface sheet">
        <Dialog className="sheet-body">
          <header className="line under sheet-head">
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
