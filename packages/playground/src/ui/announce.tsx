import { createContext, type ReactNode, useCallback, useContext, useState } from "react";
import { visible } from "@keyhole/kernel";

const Announce = createContext<(message: string) => void>(() => {});

/** Says something to a screen reader without moving the focus. */
export function useAnnounce(): (message: string) => void {
  return useContext(Announce);
}

export function Announcer({ children }: { readonly children: ReactNode }): ReactNode {
  const [message, setMessage] = useState({ text: "", count: 0 });
  const announce = useCallback(
    (text: string) => setMessage(({ count }) => ({ text: visible(text), count: count + 1 })),
    [],
  );
  return (
    <Announce value={announce}>
      {children}
      <output className="visually-hidden">
        {/* A new element each time, so that the same message twice is said twice. */}
        <span key={message.count}>{message.text}</span>
      </output>
    </Announce>
  );
}
