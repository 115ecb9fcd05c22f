/** A task cannot do its work; the message tells an operator what is wrong and what to do, in names alone. */
export class TaskError extends Error {
  override readonly name = 'TaskError';
}
