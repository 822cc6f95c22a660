import type { Database, Reader } from '../../db/query/database.ts';

/**
 * The database as one page sees it: parts of the page, and previews of what can be done on it, that ask for the same get the same
 * answer, which is read once. Only for pages, which change nothing.
 */
export function readingOnce(database: Database): Database {
  return { ...database, reader: onceReader(database.reader) };
}

function onceReader(reader: Reader): Reader {
  const kept = new Map<unknown, Map<string, Promise<unknown>>>();
  function once<Answer>(source: unknown, values: unknown, read: () => Promise<Answer>): Promise<Answer> {
    const answers = kept.get(source) ?? new Map<string, Promise<unknown>>();
    kept.set(source, answers);
    const key = JSON.stringify(values, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
    const known = answers.get(key);
    // The same source and values have the same kind of answer.
    if (known !== undefined) return known as Promise<Answer>;
    const answer = read();
    answers.set(key, answer);
    return answer;
  }
  return {
    run: (query, values) => once(query, [query.paramsOf(values)], () => reader.run(query, values)),
    first: async (query, values) =>
      (await once(query, [query.paramsOf(values)], () => reader.run(query, values)))[0] ?? null,
    find: (lookUp, id) => once(lookUp, id, () => reader.find(lookUp, id)),
    findChildren: (children, parentId) => once(children, parentId, () => reader.findChildren(children, parentId)),
    statement: (text, params) => once(text, params, () => reader.statement(text, params)),
    // Its text is built for each call: lists, which a page reads once anyway.
    execute: (query) => reader.execute(query),
  };
}
