const keepers = "input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog]";

/** Whether a key belongs to the field, the editor or the dialog that has the focus, and not to the page. An editor has a shadow tree of its own. */
export function isKeyOfField(event: Event): boolean {
  return event.composedPath().some((each) => each instanceof Element && each.matches(keepers));
}
