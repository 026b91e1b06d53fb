import { useState } from "react";

/**
 * Text that a person types for a value. The typed text stays for as long as it means the value that the form holds. Any other value came from elsewhere, such as the JSON beside the form, and appears unchanged.
 */
export function useTyped<Value>(
  value: Value,
  read: (text: string) => Value | undefined,
  write: (value: Value) => string,
): readonly [string, (text: string) => void] {
  const [typed, setTyped] = useState(() => write(value));
  const isOwn = JSON.stringify(read(typed)) === JSON.stringify(value);
  return [isOwn ? typed : write(value), setTyped];
}
