import { Marked } from 'marked';
import { escaped } from '../../domain/common/texts/html.ts';

/** The HTML of our own Markdown. `addressOf` turns the target of a link into an address that is served, or null: only its text is shown. */
export function htmlOf(markdown: string, addressOf: (target: string) => string | null = (target) => target): string {
  const marked = new Marked({
    renderer: {
      html: ({ text }) => escaped(text),
      code: ({ text, lang = '' }) =>
        // A reader with a keyboard scrolls a long line.
        `<pre tabindex="0"><code class="language-${escaped(lang)}">${escaped(text)}</code></pre>\n`,
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const address = addressOf(href);
        return address === null ? text : `<a href="${escaped(address)}">${text}</a>`;
      },
    },
  });
  return marked.parse(markdown, { async: false });
}
