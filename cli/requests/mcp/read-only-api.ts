import { parse, stringify } from 'lossless-json';
import type { ErrorCode } from '../../../domain/common/errors.ts';
import { CommandFailure } from '../../program/exit-statuses.ts';
import type { Api } from '../calls.ts';

/** Parsed JSON whose numbers keep their digits. */
export type Shown = unknown;

export type Query = Readonly<Record<string, string | undefined>>;

/** All that a tool can reach, whatever its machine user may do: reads, and the one request that is a dry run. */
export interface ReadOnlyApi {
  /** The answer's `data`. */
  read(path: string, query?: Query): Promise<Record<string, Shown>>;
  /** The same, or null if it is rejected: there is no such resource, or its filter takes no such text. */
  find(path: string, query?: Query): Promise<Record<string, Shown> | null>;
  text(path: string): Promise<string>;
  dryRunPayment(outgoingTransfer: Readonly<Record<string, unknown>>): Promise<Record<string, Shown>>;
}

/** There is nothing, or there can be nothing, by a text of this form. */
const NOT_FOUND: readonly ErrorCode[] = ['common.coding.internal.record_not_found', 'common.validation.field_invalid'];

export function readOnlyApi(api: Api): ReadOnlyApi {
  const text = async (path: string, query: Query = {}) => {
    const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    );
    return (await api.call({ method: 'GET', path, query: given })).text;
  };
  const read: ReadOnlyApi['read'] = async (path, query) => dataOf(await text(path, query));
  return {
    read,
    text,
    find: (path, query) =>
      read(path, query).catch((error: unknown) => {
        if (error instanceof CommandFailure && NOT_FOUND.some((code) => code === error.details.code)) return null;
        throw error;
      }),
    dryRunPayment: async (outgoingTransfer) => {
      const body = stringify({
        workflow: { code: 'client.direct', dryRun: true },
        data: { outgoingTransfer },
      });
      const call = { method: 'POST', path: '/outgoing-transfers', isDryRun: true } as const;
      return dataOf((await api.call(body === undefined ? call : { ...call, body })).text);
    },
  };
}

function dataOf(text: string): Record<string, Shown> {
  const answer = parse(text);
  const data = isRecord(answer) ? answer.data : undefined;
  if (!isRecord(data)) throw new CommandFailure('unknown', 'The answer is not that of the Financial Accounts Service.');
  return data;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
