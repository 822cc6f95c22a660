/** Why a transfer failed, was returned or is held. */
export interface StatusReason {
  readonly code: string;
  readonly message: string;
}

/** Reason codes explained for people. A bank's own codes are those of ISO 20022. */
const MESSAGES: Readonly<Record<string, string>> = {
  'account.closed': 'The account is closed.',
  'account.status.not_active': 'The account, or its client, is not active.',
  'caller.reported': 'The caller reported no reason.',
  'compliance.rejected': 'The compliance check rejected the transfer.',
  'incoming.match.ambiguous': 'The payment matches more than one account.',
  'incoming.match.none': 'The payment matches no account.',
  'operator.failed': 'An operator marked the transfer as failed.',
  'operator.returned': 'An operator returned the payment to its sender.',
  'provider.held': 'The service provider holds the payment.',
  'provider.rejected': 'The service provider rejected the payment and gave no reason.',
  'provider.returned': 'The service provider returned the payment and gave no reason.',
  'recall.rejected': 'The beneficiary bank rejected the recall.',
  'transfer.cancelled': 'The sender cancelled the transfer.',
  'transfer.roll.limit_exceeded': 'The transfer was moved to a later day too often.',
  AC01: 'The account number is incorrect.',
  AC03: 'The beneficiary account number is invalid.',
  AC04: 'The beneficiary account is closed.',
  AC06: 'The beneficiary account is blocked.',
  AC07: 'The beneficiary account is closed.',
  AG01: 'The account does not accept this kind of payment.',
  AM02: 'The amount is not allowed.',
  AM04: 'Funds are insufficient.',
  AM05: 'The payment is a duplicate.',
  AM09: 'The amount is wrong.',
  BE01: 'The beneficiary name does not match the account.',
  BE04: 'The beneficiary address is missing or incorrect.',
  BE08: 'A bank made an error.',
  CURR: 'The currency is incorrect.',
  CUST: 'The beneficiary requested the return.',
  DUPL: 'The payment is a duplicate.',
  FOCR: 'The sender requested the return.',
  FR01: 'The payment is suspected of fraud.',
  FRAD: 'The payment is suspected of fraud.',
  MD07: 'The beneficiary is deceased.',
  MS02: 'The beneficiary gave no reason.',
  MS03: 'The bank gave no reason.',
  NOAS: 'The beneficiary did not respond.',
  RC01: 'The bank identifier is incorrect.',
  RR04: 'Regulation does not allow the payment.',
  TECH: 'A technical problem prevented the payment.',
};

/** The reason for a code; null for none. A caller's own message takes precedence over the table's. */
export function statusReason(code: string | null, message: string | null): StatusReason | null {
  if (code === null) return null;
  const known = Object.hasOwn(MESSAGES, code) ? MESSAGES[code] : undefined;
  return { code, message: message ?? known ?? `The service provider gave the reason ${code}.` };
}
