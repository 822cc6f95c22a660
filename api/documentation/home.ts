import { requiredAudience } from '../../config/configuration.ts';
import { ERROR_PAGES_PATH } from '../http/errors.ts';
import { openRoute } from '../http/route.ts';
import { htmlOf } from './markdown.ts';
import { once } from './once.ts';
import { documentationPage, GUIDES_PATH } from './page.ts';

const ADDRESSES = {
  guides: GUIDES_PATH,
  documentation: '/docs',
  openapi: '/openapi.json',
  errors: ERROR_PAGES_PATH,
  health: '/health/ready',
} as const;

const PAGE = `# Financial Accounts Service

- [Guides](${ADDRESSES.guides}): a page for each task, from the first account to real use
- [Operations](${ADDRESSES.documentation}): every request and answer, to read and to try
- [openapi.json](${ADDRESSES.openapi}): the same for programs
- [Error codes](${ADDRESSES.errors}): what happened, and what to do
- [Health](${ADDRESSES.health}): whether this installation can handle requests`;

const startPage = once(() => documentationPage('Start', htmlOf(PAGE)));

const getServiceAddresses = openRoute(
  {
    method: 'GET',
    path: '/',
    operationId: 'getServiceAddresses',
    summary: 'Get the addresses of guides, documentation and health, and the audience of tokens',
    tag: 'System',
    responses: { 200: 'As a page where Accept names HTML, otherwise as JSON.' },
  },
  async ({ headers: { accept = '' }, services }) => {
    const vary = { vary: 'Accept' };
    if (/\btext\/html\b/i.test(accept)) {
      const page = startPage();
      return { ...page, headers: { ...page.headers, ...vary } };
    }
    const body = { ...ADDRESSES, audience: requiredAudience(services.configuration) };
    return { status: 200, body: JSON.stringify(body), headers: vary };
  },
);

export const homeRoutes = [getServiceAddresses];
