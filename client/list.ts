import type { Answer, Call, ListOptions, OperationRequest, Send } from './call.ts';
import { isObject } from './http/json.ts';

/** One page of a list, in the order of the list. */
export interface Page<Resource> {
  readonly resources: readonly Resource[];
  readonly number: number;
  readonly size: number;
  readonly totalElements: number;
  readonly totalPages: number;
}

/**
 * A list: `for await` goes through all of it, page by page. What is in the list from the first page to the last comes exactly
 * once, also while other rows are inserted; what is inserted meanwhile may come or not.
 */
export interface List<Resource, Body> extends AsyncIterable<Resource> {
  page(number?: number): Promise<Page<Resource>>;
  /** The answer with the page. */
  answer(number?: number): Promise<Answer<readonly Resource[], Body>>;
}

/** A request whose answer has the list in a field of `data`. */
export interface ListRequest extends OperationRequest {
  readonly resource: string;
}

export type SendList = <Resource, Body>(request: ListRequest, options?: ListOptions) => List<Resource, Body>;

/** The most that the service allows. */
const PAGE_SIZE = 100;

export function listsBy(send: Send): SendList {
  return <Resource, Body>(request: ListRequest, options: ListOptions = {}) => {
    const { pageSize = PAGE_SIZE, ...others } = options;
    const read = (place: Place): Call<readonly Resource[], Body> => send(pageRequest(request, place, pageSize), others);
    const list: List<Resource, Body> = {
      answer: (number = 0) => read({ number }).withAnswer(),
      page: async (number = 0) => {
        const { resource, body } = await read({ number }).withAnswer();
        return { resources: resource, ...pageOf(body) };
      },
      [Symbol.asyncIterator]: () =>
        request.operation === 'listEvents' ? byPosition(read, request) : byPageNumber(read),
    };
    return list;
  };
}

/** Where a page begins: at a number, or after an event's position. */
interface Place {
  readonly number?: number;
  readonly positionAfter?: string;
}

type Read<Resource, Body> = (place: Place) => Call<readonly Resource[], Body>;

/**
 * Rows that are inserted before a place move those behind it to later pages, where they come a second time: they are known
 * by their ids. No row moves to an earlier page while none leaves the list.
 */
async function* byPageNumber<Resource, Body>(read: Read<Resource, Body>): AsyncGenerator<Resource, void, undefined> {
  const seen = new Set<unknown>();
  for (let number = 0; ; number += 1) {
    const { resource: page, body } = await read({ number }).withAnswer();
    for (const resource of page) {
      const id = isObject(resource) ? resource.id : undefined;
      if (id !== undefined && seen.has(id)) continue;
      if (id !== undefined) seen.add(id);
      yield resource;
    }
    if (number + 1 >= pageOf(body).totalPages) return;
  }
}

/** Events have positions, which never change: to the end of the log as it is when it is reached. */
async function* byPosition<Resource, Body>(
  read: Read<Resource, Body>,
  { query }: OperationRequest,
): AsyncGenerator<Resource, void, undefined> {
  let position = typeof query?.positionAfter === 'string' ? query.positionAfter : '0';
  for (;;) {
    const { resource: events, body } = await read({ positionAfter: position }).withAnswer();
    yield* events;
    const next = nextPositionOf(body);
    if (next === position) return;
    position = next;
  }
}

/** From where a reader of the event log continues. */
export function nextPositionOf(body: unknown): string {
  return `${metadataOf(body).nextPositionAfter}`;
}

function pageRequest(request: OperationRequest, { number, positionAfter }: Place, size: number): OperationRequest {
  const page = { 'metadata.page.size': size, ...(number === undefined ? {} : { 'metadata.page.number': number }) };
  const position = positionAfter === undefined ? {} : { positionAfter };
  const place = positionAfter === undefined ? `at page ${number ?? 0}` : `after position ${positionAfter}`;
  return { ...request, query: { ...request.query, ...page, ...position }, place };
}

function pageOf(body: unknown): Omit<Page<never>, 'resources'> {
  const { page } = metadataOf(body);
  const count = (name: string) => (isObject(page) && typeof page[name] === 'number' ? page[name] : 0);
  return {
    number: count('number'),
    size: count('size'),
    totalElements: count('totalElements'),
    totalPages: count('totalPages'),
  };
}

function metadataOf(body: unknown): Readonly<Record<string, unknown>> {
  return isObject(body) && isObject(body.metadata) ? body.metadata : {};
}
