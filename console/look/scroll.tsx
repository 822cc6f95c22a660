import type { Child } from 'hono/jsx';

/** What is wider than a narrow screen scrolls by itself, by keyboard too. */
export function Scroll({ label, children }: { readonly label: string; readonly children?: Child }) {
  return (
    <section class="scroll" aria-label={label} tabindex={0}>
      {children}
    </section>
  );
}
