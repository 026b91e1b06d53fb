/**
 * The same text in one piece. Engines join texts lazily, and walk through all pieces again for each
 * longer text that contains them. So a text that enters several texts is flattened once.
 */
export function flatten(text: string): string {
  text.charCodeAt(0); // Reading it does it.
  return text;
}

/** A well-formed text as JSON (RFC 8785), or `null`. Names need no escapes, and seeing that takes a fifth of what the engine's own writer does. */
export function quote(text: string | null): string {
  if (text === null) return "null";
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (i > 64 || unit < 32 || unit > 126 || unit === 34 || unit === 92) return JSON.stringify(text);
  }
  return `"${text}"`;
}
