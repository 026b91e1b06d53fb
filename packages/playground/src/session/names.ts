/** Of the database, the channel between tabs and the locks. */
export const sessionName = "keyhole.session";

const watchedPrefix = "watched-";

/** The id of a call that another program made, and that this page read from the log of its kernel. */
export const watchedId = (callId: string): string => `${watchedPrefix}${callId}`;

/** Whether the page read the call from a log, which has no input. */
export const isWatched = ({ id }: { readonly id: string }): boolean => id.startsWith(watchedPrefix);
