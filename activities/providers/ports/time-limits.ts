/** A signal that ends after a time, or with the caller's; until it is released. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** Whether the time was what ended it. */
  isOver(): boolean;
  release(): void;
}

/**
 * Not AbortSignal.any and AbortSignal.timeout: a time limit that only a combined signal refers to may be collected as
 * garbage, and then never ends anything. A timer stays until it is cleared.
 */
export function startTimeLimit(milliseconds: number, caller: AbortSignal | undefined): TimeLimit {
  const controller = new AbortController();
  let isOver = false;
  const cutOff = () => controller.abort(caller?.reason);
  const timer = setTimeout(() => {
    isOver = !controller.signal.aborted;
    controller.abort();
  }, milliseconds);
  if (caller?.aborted === true) cutOff();
  else caller?.addEventListener('abort', cutOff);
  return {
    signal: controller.signal,
    isOver: () => isOver,
    release: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', cutOff);
    },
  };
}
