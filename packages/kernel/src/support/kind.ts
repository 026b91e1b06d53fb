/** A name, a dot, a verb; of a source of the guest the name alone. */
const form = /^[a-z][a-z0-9]{0,31}(?:\.[a-z][a-z0-9]{0,31})?$/;

/** Whether a text has the form of a kind of capability. Only a kernel's families say which kinds there are. */
export function isKind(text: string): boolean {
  return form.test(text);
}
