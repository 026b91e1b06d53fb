/** Of the database, the channel between tabs and the locks. */
export const sessionName = "keyhole.session";

/** Begins the id of a call that another program made, and that this page read from the log of its kernel. */
export const watchedPrefix = "watched-";
