/** A value, or its promise. The kernel awaits promises alone: a microtask costs more than most steps. */
export type MaybePromise<Value> = Value | Promise<Value>;
