import { describe, expect, test } from 'vitest';
import { DomainError } from '../common/errors.ts';
import { asId } from '../common/ids.ts';
import type { Provider } from '../providers/providers.ts';
import { Schemes } from '../providers/schemes.ts';
import {
  ACCOUNT_STATUSES,
  ACCOUNT_TRANSITIONS,
  type Account,
  type AccountStatus,
  type Connection,
  type ConnectionError,
  presentAccount,
  presentAccountInEvent,
} from './accounts.ts';
import {
  CLIENT_CONNECTION_FAILED,
  closeAtProvider,
  nextLookUp,
  openAtProvider,
  rejectAtProvider,
  rejectClosing,
} from './connections.ts';
import { depositInformation } from './deposit-information.ts';
import { chooseProvider } from './issuing.ts';
import { statementRange } from './statements.ts';
import { type AccountPatch, updateAccount } from './updates.ts';

const CONNECTION: Connection = {
  id: '00000000-0000-7000-8000-0000000000c1',
  reference: null,
  state: 'completed-up-to-date',
  status: 'active',
  error: null,
};

const ACCOUNT: Account = {
  id: asId('00000000-0000-7000-8000-0000000000a1'),
  clientId: asId('00000000-0000-7000-8000-0000000000b1'),
  mainAccountId: null,
  status: 'active',
  method: 'plug-in',
  provider: 'custom-bank',
  country: 'GB',
  currency: 'GBP',
  alias: 'GBP Account',
  routingCodes: null,
  iban: null,
  accountNumber: null,
  ledgerNumber: '000000000185',
  accountHolderName: 'Ada Lovelace',
  accountHolderIdentityType: 'individual',
  connection: CONNECTION,
  postedMinor: 0n,
  reservedMinor: 0n,
  receivableMinor: 0n,
};

const PENDING: Account = {
  ...ACCOUNT,
  status: 'pending',
  connection: { ...CONNECTION, state: 'creation-in-progress', status: null },
};
const BUILT_IN: Account = { ...ACCOUNT, method: 'built-in', provider: 'sandbox-bank' };
const NO_OPEN_ITEMS = { openTransfers: 0, openSubAccounts: 0 };
const ERROR: ConnectionError = {
  category: 'functional',
  origin: 'provider',
  code: 'rejected',
  message: 'No.',
  attributes: {},
};
const IBAN = 'GB29NWBK60161331926819';

function patch(account: Account, asked: AccountPatch, openItems = NO_OPEN_ITEMS) {
  return updateAccount(account, asked, openItems);
}

function rejected(work: () => unknown) {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error;
    throw error;
  }
  throw new Error('was not rejected');
}

function types(changed: { events: readonly { type: string }[] }) {
  return changed.events.map(({ type }) => type);
}

function inStatus(account: Account, status: AccountStatus): Account {
  return status === 'pending' ? { ...PENDING, method: account.method } : { ...account, status };
}

describe('status table', () => {
  test('final statuses have no moves, and nothing moves back to pending', () => {
    expect(ACCOUNT_TRANSITIONS.closed).toEqual([]);
    expect(ACCOUNT_TRANSITIONS.declined).toEqual([]);
    expect(Object.values(ACCOUNT_TRANSITIONS).flat()).not.toContain('pending');
  });

  for (const from of ACCOUNT_STATUSES) {
    for (const to of ACCOUNT_STATUSES) {
      const stays = from === to && ACCOUNT_TRANSITIONS[from].length > 0;
      const legal = ACCOUNT_TRANSITIONS[from].includes(to);
      test(`plug-in: ${from} to ${to} is ${stays ? 'no move' : legal ? 'legal' : 'rejected with 409'}`, () => {
        const account = inStatus(ACCOUNT, from);
        if (stays || legal) expect(patch(account, { status: to }).account.status).toBe(to);
        else expect(rejected(() => patch(account, { status: to })).code).toBe('common.state.illegal_transition');
      });

      const byCaller = to === 'closed' && ['active', 'inactive', 'suspended'].includes(from);
      test(`built-in: ${from} to ${to} is ${stays ? 'no move' : byCaller ? 'instructed' : 'rejected with 409'}`, () => {
        const account = inStatus(BUILT_IN, from);
        if (byCaller)
          expect(patch(account, { status: to })).toMatchObject({ request: 'close', account: { status: from } });
        else if (stays) expect(patch(account, { status: to })).toMatchObject({ request: null, events: [] });
        else expect(rejected(() => patch(account, { status: to })).code).toBe('common.state.illegal_transition');
      });
    }
  }
});

describe('plug-in callers', () => {
  test('an activation with its connection has the connection event first, and shows identifiers only from then on', () => {
    const changed = patch(PENDING, {
      status: 'active',
      iban: 'gb29 nwbk 6016 1331 9268 19',
      connection: { reference: 'CB-1', state: 'completed-up-to-date', status: 'active' },
    });
    expect(types(changed)).toEqual(['connection-created', 'account-activated']);
    expect(changed.events[0]?.account).toMatchObject({ status: 'pending', iban: null });
    expect(changed.account).toMatchObject({ status: 'active', iban: IBAN, connection: { reference: 'CB-1' } });
  });

  test('an activation that does not mention the connection completes it', () => {
    const changed = patch(PENDING, { status: 'active' });
    expect(types(changed)).toEqual(['connection-created', 'account-activated']);
    expect(changed.account.connection).toMatchObject({ state: 'completed-up-to-date', status: 'active', error: null });
  });

  test('a decline carries the error of the connection, and one of its own where the caller gives none', () => {
    const declined = patch(PENDING, { status: 'declined', connection: { state: 'creation-failed', error: ERROR } });
    expect(types(declined)).toEqual(['connection-creation-failed', 'account-declined']);
    expect(declined.account.connection?.error).toEqual(ERROR);
    const silent = patch(PENDING, { status: 'declined' });
    expect(types(silent)).toEqual(['connection-creation-failed', 'account-declined']);
    expect(silent.account.connection?.error).toMatchObject({ origin: 'customer' });
  });

  test('a failed connection needs its error, and its account cannot become active', () => {
    const missing = rejected(() => patch(PENDING, { connection: { state: 'creation-failed' } }));
    expect(missing.problems[0]).toMatchObject({
      code: 'common.validation.field_required',
      messageParameters: ['account', 'connection.error', ''],
    });
    const failed = patch(PENDING, { connection: { state: 'creation-failed', error: ERROR } }).account;
    expect(rejected(() => patch(failed, { status: 'active' })).code).toBe('common.state.illegal_transition');
  });

  test('the connection id may be left out, and another one is rejected', () => {
    expect(patch(ACCOUNT, { connection: { id: CONNECTION.id, status: 'inactive' } }).account.connection?.status).toBe(
      'inactive',
    );
    const other = rejected(() => patch(ACCOUNT, { connection: { id: ACCOUNT.id } }));
    expect(other.problems[0]?.messageParameters).toEqual(['account', 'connection.id', ACCOUNT.id]);
  });

  test('bank details change with the status, or without it while active', () => {
    expect(types(patch(ACCOUNT, { iban: IBAN }))).toEqual(['account-information-updated']);
    const inactive: Account = { ...ACCOUNT, status: 'inactive' };
    expect(rejected(() => patch(inactive, { iban: IBAN })).problems[0]?.messageParameters).toEqual([
      'account',
      'status',
      '',
    ]);
    expect(types(patch(inactive, { iban: IBAN, status: 'inactive' }))).toEqual(['account-information-updated']);
    expect(types(patch(inactive, { iban: IBAN, status: 'active' }))).toEqual(['account-activated']);
    const suspended = patch(ACCOUNT, { iban: IBAN, status: 'suspended' });
    expect(types(suspended)).toEqual(['account-information-updated', 'account-suspended']);
    expect(suspended.events[0]?.account.status).toBe('active');
  });

  test('without a change there is no event', () => {
    const changed = patch(
      { ...ACCOUNT, iban: IBAN },
      { alias: 'GBP Account', iban: IBAN, status: 'active', routingCodes: {} },
    );
    expect(changed).toMatchObject({ events: [], request: null });
  });

  test('a null clears: the alias goes back to its default', () => {
    const changed = patch({ ...ACCOUNT, alias: 'Rent', iban: IBAN }, { alias: null, iban: null });
    expect(changed.account).toMatchObject({ alias: 'GBP Account', iban: null });
  });

  test('all problems with the bank details are reported at once', () => {
    const { problems } = rejected(() => patch(ACCOUNT, { iban: 'GB00NWBK60161331926819', routingCodes: { bic: 'x' } }));
    expect(problems.map(({ messageParameters: [, field] }) => field)).toEqual(['iban', 'routingCodes.bic']);
  });

  test('illegal moves of the connection are rejected with 409', () => {
    const back = rejected(() => patch(ACCOUNT, { connection: { state: 'creation-in-progress' } }));
    expect(back.code).toBe('common.state.illegal_transition');
  });

  test('a report of an update shows its three outcomes', () => {
    const instructed = patch(ACCOUNT, { connection: { state: 'update-in-progress' } });
    expect(types(instructed)).toEqual(['connection-update-instructed']);
    expect(types(patch(instructed.account, { connection: { state: 'completed-up-to-date' } }))).toEqual([
      'connection-updated',
    ]);
    const failed = patch(instructed.account, { connection: { state: 'completed-outdated', error: ERROR } });
    expect(types(failed)).toEqual(['connection-update-failed']);
    const closed = patch(ACCOUNT, { status: 'closed', connection: { status: 'closed' } });
    expect(types(closed)).toEqual(['connection-updated', 'account-closed']);
  });
});

describe('closing', () => {
  const OPEN_ITEMS = [
    [{ ...ACCOUNT, postedMinor: 1n }, NO_OPEN_ITEMS],
    [{ ...ACCOUNT, receivableMinor: 1n }, NO_OPEN_ITEMS],
    [ACCOUNT, { openTransfers: 1, openSubAccounts: 0 }],
    [ACCOUNT, { openTransfers: 0, openSubAccounts: 1 }],
  ] as const;
  test.each(OPEN_ITEMS)('is rejected while anything is left (%#)', (account, openItems) => {
    expect(rejected(() => patch(account, { status: 'closed' }, openItems)).code).toBe('account.close.not_empty');
    const builtIn = { ...account, method: 'built-in' as const };
    expect(rejected(() => patch(builtIn, { status: 'closed' }, openItems)).code).toBe('account.close.not_empty');
  });

  test('of a built-in account goes through the provider, once at a time', () => {
    const asked = patch(BUILT_IN, { status: 'closed' });
    expect(types(asked)).toEqual(['connection-update-instructed']);
    expect(asked.account).toMatchObject({ status: 'active', connection: { state: 'update-in-progress' } });
    expect(rejected(() => patch(asked.account, { status: 'closed' })).code).toBe('common.state.illegal_transition');
    const closed = closeAtProvider({ account: asked.account, events: [] }, true);
    expect(types(closed)).toEqual(['connection-updated', 'account-closed']);
    expect(closed.account).toMatchObject({
      status: 'closed',
      connection: { status: 'closed', state: 'completed-up-to-date' },
    });
  });

  test('that the provider rejects leaves the account as it is, to be closed again', () => {
    const asked = patch(BUILT_IN, { status: 'closed' });
    const failed = rejectClosing(asked.account, ERROR);
    expect(types(failed)).toEqual(['connection-update-failed']);
    expect(failed.account).toMatchObject({
      status: 'active',
      connection: { state: 'completed-outdated', error: ERROR },
    });
    expect(types(patch(failed.account, { status: 'closed' }))).toEqual(['connection-update-instructed']);
  });

  test('at the provider suspends an account that has received money meanwhile; once emptied, it closes without the provider', () => {
    const asked = patch(BUILT_IN, { status: 'closed' });
    const suspended = closeAtProvider({ account: { ...asked.account, postedMinor: 5n }, events: [] }, false);
    expect(types(suspended)).toEqual(['connection-updated', 'account-suspended']);
    const emptied = patch({ ...suspended.account, postedMinor: 0n }, { status: 'closed' });
    expect(emptied).toMatchObject({ request: null, account: { status: 'closed' } });
  });

  test('of a sub-account asks no provider', () => {
    expect(patch({ ...BUILT_IN, connection: null }, { status: 'closed' })).toMatchObject({ request: null });
  });
});

describe('built-in accounts', () => {
  test('accept no bank details and no connection from callers, with all problems reported at once', () => {
    const { problems } = rejected(() => patch(BUILT_IN, { iban: IBAN, connection: { status: 'closed' } }));
    expect(problems.map(({ code }) => code)).toEqual(Array(2).fill('common.validation.field_unexpected'));
  });

  test('opened: the identifiers show from the activation on', () => {
    const details = { country: 'GB', iban: IBAN, accountNumber: '31926819', routingCodes: { 'sort-code': '601613' } };
    const opened = openAtProvider({ ...PENDING, method: 'built-in' }, 'SB-1', details);
    expect(types(opened)).toEqual(['connection-created', 'account-activated']);
    expect(opened.events[0]?.account).toMatchObject({ status: 'pending', iban: null });
    expect(opened.account).toMatchObject({ ...details, status: 'active' });
  });

  test('rejected: the connection shows why, the declined event has no connection', () => {
    const rejection = rejectAtProvider(PENDING, 'dependency-failed', CLIENT_CONNECTION_FAILED);
    expect(types(rejection)).toEqual(['connection-creation-failed', 'account-declined']);
    expect(rejection.account.connection).toMatchObject({ state: 'dependency-failed', error: CLIENT_CONNECTION_FAILED });
    expect(presentAccountInEvent('connection-creation-failed', rejection.account).connection?.error).toEqual(
      CLIENT_CONNECTION_FAILED,
    );
    expect(presentAccountInEvent('account-declined', rejection.account).connection).toBeNull();
  });
});

test('available is posted less reserved, shown in digits', () => {
  const view = presentAccount({
    ...ACCOUNT,
    postedMinor: 9_007_199_254_740_993n,
    reservedMinor: 2n,
    receivableMinor: 50n,
  });
  expect(view.availableBalance.value).toBe('90071992547409.91');
  expect(view.receivableBalance.value).toBe('0.5');
});

test('look-ups come 10 s after the submission and then further and further apart', () => {
  const submitted = new Date('2026-11-21T09:00:00Z');
  const after = (seconds: number) => {
    const { at, count } = nextLookUp(submitted, new Date(submitted.getTime() + seconds * 1000));
    return [(at.getTime() - submitted.getTime()) / 1000, count];
  };
  expect(after(0)).toEqual([10, 0]);
  expect(after(10)).toEqual([20, 1]);
  expect(after(25)).toEqual([40, 2]);
  expect(after(2560)).toEqual([2560 + 3600, 9]);
  expect(after(2560 + 3600)).toEqual([2560 + 7200, 10]);
});

describe('choice of the provider', () => {
  const offer = (currencies: string[] | null, countries: string[] | null, schemes: string[]) => ({
    currencies,
    countries,
    defaultCountry: countries?.[0] ?? 'GB',
    schemes,
    bank: null,
  });
  const PROVIDERS: Provider[] = [
    { code: 'own-bank', method: 'plug-in', offers: [offer(null, null, ['swift'])] },
    { code: 'first', method: 'built-in', offers: [offer(['GBP'], ['GB'], ['chaps'])] },
    { code: 'second', method: 'built-in', offers: [offer(['GBP', 'EUR'], null, ['swift'])] },
  ];
  const choose = (connect: Parameters<typeof chooseProvider>[1], currency = 'GBP', country: string | null = null) =>
    chooseProvider(PROVIDERS, connect, { currency, country });

  test('implicit takes the first built-in provider that offers currency and country', () => {
    expect(choose({})).toMatchObject({ provider: { code: 'first' }, country: 'GB' });
    expect(choose({ type: 'implicit' }, 'GBP', 'FR')).toMatchObject({ provider: { code: 'second' }, country: 'FR' });
  });

  test('explicit takes the named provider', () => {
    expect(choose({ serviceProvider: 'second' })).toMatchObject({ provider: { code: 'second' } });
    const plugIn = { method: 'plug-in', type: 'explicit', serviceProvider: 'own-bank' } as const;
    expect(choose(plugIn, 'JPY')).toMatchObject({ provider: { code: 'own-bank' } });
  });

  test.each([
    [{ method: 'plug-in' }, 'connect.method.type_mismatch'],
    [{ method: 'plug-in', type: 'implicit' }, 'connect.method.type_mismatch'],
    [{ method: 'plug-in', serviceProvider: 'first' }, 'connect.method.type_mismatch'],
    [{ serviceProvider: 'own-bank' }, 'connect.method.type_mismatch'],
    [{ type: 'explicit' }, 'common.validation.field_required'],
    [{ type: 'explicit', serviceProvider: 'no-such-provider' }, 'common.validation.field_invalid'],
    [{ type: 'implicit', serviceProvider: 'first' }, 'common.validation.mutually_exclusive'],
  ] as const)('%o is rejected', (connect, code) => {
    expect(rejected(() => choose(connect)).code).toBe(code);
  });

  test('a combination that no provider offers is rejected as a business rule', () => {
    expect(rejected(() => choose({}, 'JPY')).code).toBe('connect.offer.unavailable');
    expect(rejected(() => choose({ serviceProvider: 'first' }, 'GBP', 'FR')).code).toBe('connect.offer.unavailable');
  });
});

describe('statement range', () => {
  const now = new Date('2026-02-14T12:00:00Z');
  const range = (from?: string, to?: string) => {
    const asked = {
      from: from === undefined ? undefined : new Date(from),
      to: to === undefined ? undefined : new Date(to),
    };
    const { from: first, to: last } = statementRange(asked, now);
    return [first.toISOString(), last.toISOString()];
  };
  test('defaults to the current month, and one bound to its own month', () => {
    expect(range()).toEqual(['2026-02-01T00:00:00.000Z', '2026-02-28T23:59:59.999Z']);
    expect(range('2024-02-10T08:00:00.500Z')).toEqual(['2024-02-10T08:00:00.500Z', '2024-02-29T23:59:59.999Z']);
    expect(range(undefined, '2025-12-05T00:00:00Z')).toEqual(['2025-12-01T00:00:00.000Z', '2025-12-05T00:00:00.000Z']);
    expect(range('2025-12-31T23:59:59.999Z')).toEqual(['2025-12-31T23:59:59.999Z', '2025-12-31T23:59:59.999Z']);
  });
  test('a from after the to is rejected', () => {
    expect(rejected(() => range('2026-02-02T00:00:00Z', '2026-02-01T00:00:00Z')).code).toBe(
      'common.validation.field_invalid',
    );
  });
});

describe('deposit information', () => {
  const rule = {
    zone: 'UTC',
    currencies: null,
    destinationCountries: null,
    cutOff: null,
    accountsNamedBy: null,
    cutOffByCurrency: {},
    opensAt: null,
    calendars: [],
    amountLimitsMinor: {},
  };
  const schemes = new Schemes({
    rules: {
      internal: rule,
      'faster-payments': { ...rule, currencies: ['GBP'] },
      sepa: { ...rule, currencies: ['EUR'] },
      swift: rule,
    },
    calendars: {} as never,
    calendarByCurrency: {},
  });
  const offer = {
    currencies: ['GBP'],
    countries: ['GB'],
    defaultCountry: 'GB',
    schemes: ['faster-payments', 'sepa', 'swift'],
    bank: {
      name: 'Bank',
      address: 'Street',
      country: 'GB',
      routingCodes: { bic: 'SBXBGB2LXXX', 'sort-code': '040668' },
      intermediary: null,
      pooledAccount: null,
    },
  };
  const account: Account = {
    ...BUILT_IN,
    iban: IBAN,
    accountNumber: '31926819',
    routingCodes: { 'sort-code': '601613' },
  };

  test('SWIFT uses the BIC, local schemes the local code, internal only the ledger number', () => {
    const information = depositInformation(account, null, offer, schemes);
    expect(Object.keys(information)).toEqual(['faster-payments', 'swift', 'internal']);
    expect(information['faster-payments']).toMatchObject({
      routingCodes: { 'sort-code': '601613' },
      iban: IBAN,
      reference: null,
    });
    expect(information.swift).toMatchObject({ routingCodes: { bic: 'SBXBGB2LXXX' }, iban: IBAN, bankName: 'Bank' });
    expect(information.internal).toMatchObject({ ledgerNumber: '000000000185', iban: null, routingCodes: null });
  });

  test("a sub-account is paid into by its main account's details with its own ledger number as reference", () => {
    const sub: Account = { ...BUILT_IN, mainAccountId: account.id, connection: null, ledgerNumber: '000000000282' };
    const information = depositInformation(sub, account, offer, schemes);
    expect(information.swift).toMatchObject({ iban: IBAN, reference: '000000000282' });
    expect(information.internal).toMatchObject({ ledgerNumber: '000000000282', reference: null });
  });
});
