import { DomainError, ERROR_CODES } from '../domain/errors.ts';

const MESSAGES: Readonly<Record<string, string>> = {
  'common.coding.internal.record_not_found': 'There is no such record.',
  'common.idempotency.key_reused': 'This Idempotency-Key was used with another body.',
  'account.client.mismatch': 'The account belongs to another client.',
  'account.currency.mismatch': 'The account is in another currency.',
  'account.status.not_active': 'The account, or the client that owns it, is not active.',
  'account.balance.insufficient': 'The available balance does not cover the amount and its fee.',
};

/** What SQL refused a request for: the error code and the three message parameters. */
export function refusalOf([sent, entity = '', field = '', value = '']: readonly string[]): DomainError {
  const code = ERROR_CODES.find((known) => known === sent);
  if (code === undefined) throw new Error(`SQL refused with an unknown code: ${sent}`);
  return new DomainError([{ code, message: MESSAGES[code] ?? code, messageParameters: [entity, field, value] }]);
}
