// Refreshes what is marked data-live, keeps still under the pointer, a selection, a focus or a pressed button, and says how old it is.
(() => {
  const EVERY_MS = 5_000;
  const nowText = () => `${new Date().toISOString().slice(11, 19)} UTC`;
  const part = (name, { id }) => document.querySelector(`[data-live-${name}="${id}"]`);
  const isSelected = (element) => {
    const selection = document.getSelection();
    return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
  };
  const start = (element, button) => {
    let asOf = nowText();
    let isPaused = false;
    let isUnderPointer = false;
    element.addEventListener('pointerenter', () => {
      isUnderPointer = true;
    });
    element.addEventListener('pointerleave', () => {
      isUnderPointer = false;
    });
    const holds = () =>
      document.hidden ||
      isPaused ||
      isUnderPointer ||
      // Where the pointer was there before the page.
      element.matches(':hover') ||
      element.contains(document.activeElement) ||
      isSelected(element);
    const say = (isHeld) => {
      part('state', element).textContent = `as of ${asOf}${isPaused ? ', paused' : isHeld ? ', held' : ''}`;
    };
    const complain = (text) => {
      const line = part('problem', element);
      if (line.textContent !== text) line.textContent = text;
      element.classList.toggle('stale', text !== '');
    };
    part('bar', element).hidden = false;
    say(false);
    button.addEventListener('click', () => {
      isPaused = !isPaused;
      button.setAttribute('aria-pressed', String(isPaused));
      button.textContent = isPaused ? 'Go on' : 'Pause';
      say(false);
    });
    setInterval(() => {
      const isHeld = holds();
      say(isHeld);
      if (!isHeld) window.htmx.trigger(element, 'live');
    }, EVERY_MS);
    element.addEventListener('htmx:beforeSwap', (event) => {
      // The pointer may have come while the answer was on its way.
      if (holds()) event.detail.shouldSwap = false;
    });
    element.addEventListener('htmx:afterSwap', () => {
      asOf = nowText();
      say(false);
      complain('');
    });
    element.addEventListener('htmx:responseError', ({ detail }) =>
      complain(
        detail.xhr.status === 401
          ? 'Your session has ended: reload the page to sign in.'
          : 'Not refreshed since: this may be old.',
      ),
    );
    for (const name of ['htmx:sendError', 'htmx:timeout']) {
      element.addEventListener(name, () => complain('Not refreshed since: this may be old.'));
    }
  };
  for (const element of document.querySelectorAll('[data-live]')) {
    const button = part('pause', element);
    if (button !== null) start(element, button);
  }
})();
