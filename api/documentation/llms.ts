import { ERROR_PAGES_PATH } from '../http/errors.ts';
import { openRoute } from '../http/route.ts';
import type { AnyRoute } from '../http/third-party-route.ts';
import { COLLECTION_PATH } from './collection.ts';
import { explanations } from './error-pages.ts';
import { guides, pathOfGuide } from './guides.ts';
import { once } from './once.ts';

/** What language models read (llmstxt.org): a list of the pages, and all of them in one text. */

export const LLMS_PATH = '/llms.txt';
export const LLMS_FULL_PATH = '/llms-full.txt';

const SUMMARY = `# Financial Accounts Service

> The back end of a company that holds money for its own clients: it opens accounts at banks, moves money between them and to other
> banks, and reports every change by signed webhook. All requests are JSON over HTTP with a bearer token.`;

function operationsOf(routes: readonly AnyRoute[]): string[] {
  return routes
    .filter((route) => route.kind !== 'open' || route.contract.undocumented !== true)
    .map(({ contract: { method, path, summary } }) => `- \`${method} ${path}\`: ${summary}`);
}

export function llmsRoutes(routes: readonly AnyRoute[]) {
  const PAGES = { tag: 'System', method: 'GET', undocumented: true, responses: { 200: 'As Markdown.' } } as const;
  const answer = (parts: readonly string[]) => ({
    status: 200,
    body: `${parts.join('\n\n')}\n`,
    contentType: 'text/plain; charset=utf-8',
  });
  const listOfPages = once(() => {
    const pages = guides().map(
      (guide) => `- [${guide.title}](${pathOfGuide(guide)}${guide.name === 'README' ? '' : '.md'})`,
    );
    const reference = [
      `- [All operations and webhooks, as OpenAPI 3.1](/openapi.json)`,
      `- [All requests with examples, for Postman or Bruno](${COLLECTION_PATH})`,
      `- [Error codes](${ERROR_PAGES_PATH})`,
      `- [All of this in one text](${LLMS_FULL_PATH})`,
    ];
    return answer([SUMMARY, '## Guides', pages.join('\n'), '## Reference', reference.join('\n')]);
  });
  const fullText = once(() =>
    answer([
      SUMMARY,
      ...guides().map(({ markdown }) => markdown.trim()),
      '# Operations',
      'Their fields are in `/openapi.json`.',
      operationsOf(routes).join('\n'),
      '# Error codes',
      ...explanations('#'),
    ]),
  );
  const list = openRoute(
    { ...PAGES, path: LLMS_PATH, operationId: 'getLlms', summary: 'Get the list of pages for language models' },
    async () => listOfPages(),
  );
  const full = openRoute(
    {
      ...PAGES,
      path: LLMS_FULL_PATH,
      operationId: 'getLlmsFull',
      summary: 'Get all guides and error codes as one text',
    },
    async () => fullText(),
  );
  return [list, full];
}
