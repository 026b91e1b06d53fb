/** What is there at once is not waited for: a turn of the queue costs more than most steps. */
export type MaybePromise<Value> = Value | Promise<Value>;
