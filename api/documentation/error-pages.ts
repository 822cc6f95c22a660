import { ERROR_EXPLANATIONS } from '../../domain/common/error-explanations.ts';
import { ERROR_CODES, type ErrorCode, recordNotFound } from '../../domain/common/errors.ts';
import { ERROR_PAGES_PATH, ERROR_STATUS } from '../http/errors.ts';
import { openRoute } from '../http/route.ts';
import { htmlOf } from './markdown.ts';
import { once, oncePer } from './once.ts';
import { documentationPage } from './page.ts';

const TITLE = 'Error codes';

const INTRODUCTION = `Every answer with a status from 400 on has a \`code\`, and a header \`Link\` with \`rel="help"\` that leads to
the page of the code. Write programs by \`code\` and read \`message\`: its wording may change in any release.`;

/** What is known of one code, as Markdown without a heading. */
export function explanationOf(code: ErrorCode): string {
  const { example, happened, whatToDo } = ERROR_EXPLANATIONS[code];
  return `Status ${ERROR_STATUS[code]}, for example: “${example}”\n\n${happened}\n\n**What to do:** ${whatToDo}`;
}

/** The explanations of all codes, as Markdown below a heading of the same level. */
export function explanations(level: '#' | '##'): string[] {
  return [INTRODUCTION, ...ERROR_CODES.flatMap((code) => [`${level}# \`${code}\``, explanationOf(code)])];
}

const listPage = once(() => {
  const rows = ERROR_CODES.map((code) => {
    const { happened } = ERROR_EXPLANATIONS[code];
    return `| [\`${code}\`](${ERROR_PAGES_PATH}/${code}) | ${ERROR_STATUS[code]} | ${happened} |`;
  });
  const table = ['| Code | Status | What happened |', '|---|---|---|', ...rows].join('\n');
  return documentationPage(TITLE, htmlOf(`# ${TITLE}\n\n${INTRODUCTION}\n\n${table}`));
});

const pageOf = oncePer((code: ErrorCode) => documentationPage(code, htmlOf(`# ${code}\n\n${explanationOf(code)}`)));

const PAGES = { tag: 'System', method: 'GET', undocumented: true, responses: { 200: 'As HTML.' } } as const;

const list = openRoute(
  { ...PAGES, path: ERROR_PAGES_PATH, operationId: 'getErrorPages', summary: 'Get the list of the error codes' },
  async () => listPage(),
);

const one = openRoute(
  {
    ...PAGES,
    path: `${ERROR_PAGES_PATH}/{code}`,
    operationId: 'getErrorPage',
    summary: 'Get the page of an error code',
  },
  async ({ params: { code = '' } }) => {
    if (!isErrorCode(code)) throw recordNotFound('errorCode', 'code', code.slice(0, 100));
    return pageOf(code);
  },
);

export function isErrorCode(text: string): text is ErrorCode {
  return ERROR_CODES.some((code) => code === text);
}

export const errorPageRoutes = [list, one];
