/** Of the database, the channel between tabs and the locks. */
export const sessionName = "keyhole.session";
