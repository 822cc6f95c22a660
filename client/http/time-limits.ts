/** A signal that ends after a time, or with the caller's; until it is released. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  release(): void;
}

/** Timers hold no more, and end at once beyond. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Not AbortSignal.any and AbortSignal.timeout: a time limit that only a combined signal refers to may be collected as
 * garbage, and then never ends anything. A timer stays until it is cleared.
 */
export function startTimeLimit(milliseconds: number, caller?: AbortSignal): TimeLimit {
  const controller = new AbortController();
  const end = () => controller.abort(caller?.reason);
  const timer = setTimeout(
    () => controller.abort(new DOMException('The time is over.', 'TimeoutError')),
    Math.min(milliseconds, TIMER_MS_MAX),
  );
  if (caller?.aborted === true) end();
  else caller?.addEventListener('abort', end);
  return {
    signal: controller.signal,
    release: () => {
      clearTimeout(timer);
      caller?.removeEventListener('abort', end);
    },
  };
}
