import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { toJsonSchema } from '@valibot/to-json-schema';
import { stringify } from 'lossless-json';
import * as v from 'valibot';
import { ERROR_EXPLANATIONS } from '../../../domain/common/error-explanations.ts';
import { ERROR_CODES } from '../../../domain/common/errors.ts';
import manifest from '../../../package.json' with { type: 'json' };
import type { Run } from '../../program/command.ts';
import { EXIT_STATUSES } from '../../program/exit-statuses.ts';
import { failureOf } from '../../program/failures.ts';
import { openApi } from '../calls.ts';
import { type ReadOnlyApi, readOnlyApi } from './read-only-api.ts';
import { TOOLS } from './tools.ts';

const INSTRUCTIONS =
  'Answers questions about money in the Financial Accounts Service: where a payment is, what waits, what an account holds. It reads only. Begin with help, or with find if an id, number or name is given.';

/** `fas mcp`: answers an assistant until it closes standard input. */
export const serveAssistant: Run = async (context) => {
  // On the development machine its user may only read; elsewhere the profile names one.
  const api = readOnlyApi(await openApi(context, { role: 'viewer' }));
  const server = new Server(
    { name: 'financial-accounts-service', version: manifest.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: TOOLS.map(declared) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => answer(api, params.name, params.arguments));
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
    process.stdin.once('end', resolve);
    context.signal.addEventListener('abort', () => resolve());
  });
  await server.connect(new StdioServerTransport());
  await closed;
  await server.close();
  return EXIT_STATUSES.succeeded.status;
};

function declared({ name, description, input }: (typeof TOOLS)[number]) {
  const { $schema: _, ...schema } = toJsonSchema(input);
  const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  return { name, description, inputSchema: { ...schema, type: 'object' as const }, annotations };
}

async function answer(api: ReadOnlyApi, name: string, given: unknown) {
  try {
    const tool = TOOLS.find((candidate) => candidate.name === name);
    if (tool === undefined) return problem(`There is no tool ${name}: ask help.`);
    const shown = await tool.run(api, given);
    return { content: [{ type: 'text' as const, text: typeof shown === 'string' ? shown : (stringify(shown) ?? '') }] };
  } catch (error) {
    if (error instanceof v.ValiError) return problem(error.issues.map(issueText).join('\n'));
    const { message, details } = failureOf(error);
    const code = ERROR_CODES.find((known) => known === details.code);
    return problem(code === undefined ? message : `${message}\n${code}: ${ERROR_EXPLANATIONS[code].whatToDo}`);
  }
}

function issueText(issue: v.BaseIssue<unknown>): string {
  return `${v.getDotPath(issue) ?? 'arguments'}: ${issue.message}`;
}

function problem(text: string) {
  return { isError: true, content: [{ type: 'text' as const, text }] };
}
