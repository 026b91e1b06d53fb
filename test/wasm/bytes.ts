export type Bytes = Uint8Array<ArrayBuffer>;

export function bytesOf(base64: string): Bytes {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
