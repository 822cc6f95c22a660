import { stringify } from './requests/json.ts';
import type { ParsedBody, ParsedQuery } from './requests/request.ts';
import type { Answer, Contract, RenderedAnswer } from './route.ts';

/** Wraps an answer: `workflow` and `connect` echo the request, `metadata` holds page and includes. */
export function renderAnswer(
  contract: Contract,
  answer: Answer<unknown>,
  request: { readonly body: ParsedBody | null; readonly query: ParsedQuery },
): RenderedAnswer {
  const envelope = {
    workflow: request.body?.workflow ?? {},
    data: answer.data,
    connect: { ...request.body?.connect, ...answer.connect },
    metadata: { ...metadataOf(contract, answer, request.query), ...answer.metadata },
  };
  const status = answer.status ?? contract.status ?? (contract.method === 'POST' ? 201 : 200);
  return { rendered: true, status, body: stringify(envelope), replayed: false };
}

function metadataOf(contract: Contract, answer: Answer<unknown>, query: ParsedQuery): Record<string, unknown> {
  const metadata: Record<string, unknown> = {};
  if (query.include.size > 0) metadata.include = [...query.include];
  if (contract.paged) {
    const { number, size } = query.page;
    const totalElements = answer.totalElements ?? 0;
    metadata.page = { size, number, totalElements, totalPages: Math.ceil(totalElements / size) };
  }
  return metadata;
}
