/** An Idempotency-Key; `crypto.randomUUID` is not there on plain HTTP. */
export const newKey = () => `${Date.now()}-${Math.random()}`;
