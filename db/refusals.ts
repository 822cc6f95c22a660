import { DomainError, ERROR_CODES, type MessageParameters } from '../domain/errors.ts';
import { errorDetail, sqlState } from './client.ts';

const REFUSED = 'FA001';
const OTHER_DAY = 'FA002';

const MESSAGES: Readonly<Record<string, string>> = {
  'common.coding.internal.record_not_found': 'There is no such record.',
  'common.idempotency.key_reused': 'This Idempotency-Key was used with another body.',
  'account.client.mismatch': 'The account belongs to another client.',
  'account.currency.mismatch': 'The account is in another currency.',
  'account.status.not_active': 'The account, or the client that owns it, is not active.',
  'account.balance.insufficient': 'The available balance does not cover the amount and its fee.',
};

/** The refusal that a SQL function raised with `refuse()`; null for every other error. */
export function refusalOf(error: unknown): DomainError | null {
  if (sqlState(error) !== REFUSED || !(error instanceof Error)) return null;
  const code = ERROR_CODES.find((known) => known === error.message);
  if (code === undefined) throw new Error(`SQL refused with an unknown code: ${error.message}`);
  const messageParameters = parametersOf(errorDetail(error));
  return new DomainError([{ code, message: MESSAGES[code] ?? code, messageParameters }]);
}

function parametersOf(detail: string | null): MessageParameters {
  const parsed: unknown = JSON.parse(detail ?? '[]');
  const [entity = '', field = '', value = ''] = Array.isArray(parsed) ? parsed.map(String) : [];
  return [entity, field, value];
}

/** The day of the service's clock, when a SQL function found that the caller's is another; null for other errors. */
export function serviceDateOf(error: unknown): string | null {
  return sqlState(error) === OTHER_DAY ? errorDetail(error) : null;
}
