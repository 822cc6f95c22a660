import { expect } from 'vitest';
import type { Exchange } from '../../../activities/bank-files/exchange/round.ts';
import { askToRelease, signRequest } from '../../../db/bank-files/by-hand/requests.ts';
import type { BankWord } from '../../../domain/bank-files/by-hand/requests.ts';
import type { BookedEntry } from '../../../domain/bank-files/messages.ts';
import type { Json } from '../api.ts';
import { incomingSteps } from '../transfers/payment-steps.ts';
import { FILES_BANK, type FilesWorld } from './files-world.ts';
import { accountReport, creditOf } from './scripted-bank.ts';

export type Said = Partial<BookedEntry>;

/** A payer of whom the bank tells an account. */
export const GRACE = { name: 'Grace Hopper', iban: 'GB33BUKB20201555555555', accountNumber: null, bic: null };

/** Money in that goes back, at a bank that says what a test has it say. */
export interface ReturnedMoney {
  nextKey(): string;
  say(...said: readonly BookedEntry[]): Promise<void>;
  /** Money that a person returns, and whose payer's account the bank has not told. */
  due(amountMinor: bigint, changed: Said): Promise<string>;
  /** A person returns the money of an entry. */
  sendBack(key: string): Promise<string>;
  /** What a debit turns out to be. */
  debit(amountMinor: bigint, changed: Said): Promise<string>;
  /** How far the return is. */
  stands(id: string): Promise<string>;
  /** What two people say that the bank says; without `id` of all that are held. */
  release(bankSays: BankWord, id: string | null): Promise<number>;
  instructionsOf(id: string): Promise<Json[]>;
}

export function returnedMoney(
  files: FilesWorld,
  exchange: Exchange,
  dependencies: FilesWorld['dependencies'] = files.dependencies,
): ReturnedMoney {
  let entries = 0;
  const nextKey = () => {
    entries += 1;
    return `entry ${entries}`;
  };
  const say = async (...said: readonly BookedEntry[]) => {
    files.bank.say(accountReport('camt.054', ...said));
    await files.rounds(exchange);
  };
  const sendBack = async (key: string) => {
    const [{ id }] = await files.rows(`SELECT id FROM incoming_transfers WHERE service_provider_id = '${key}'`);
    const answer = await files.api.call('POST', `/incoming-transfers/${id}/return`, { workflow: { code: 'direct' } });
    expect(answer.status, answer.text).toBe(200);
    expect(await incomingSteps(dependencies).go(id)).toMatchObject({ do: 'wait' });
    return id;
  };
  return {
    nextKey,
    say,
    due: async (amountMinor, changed) => {
      const key = nextKey();
      const debtor = { name: 'Grace Hopper', iban: null, accountNumber: null, bic: null };
      await say({ ...creditOf(key, amountMinor, 'unknown'), debtor, ...changed });
      return sendBack(key);
    },
    sendBack,
    debit: async (amountMinor, changed) => {
      const key = nextKey();
      await say({ ...creditOf(key, amountMinor, ''), direction: 'debit', ...changed });
      const [{ kind }] = await files.rows(`SELECT kind FROM bank_entries WHERE key = '${key}'`);
      return kind;
    },
    stands: async (id) =>
      (await files.rows(`SELECT send_back_status AS status FROM incoming_transfers WHERE id = '${id}'`))[0].status,
    release: async (bankSays, id) => {
      const { database } = files.api;
      const asked = { provider: FILES_BANK, transferIds: id === null ? null : [id], bankSays };
      const by = (actor: string) => ({ actor, requestId: null, reason: 'a test' });
      const request = await database.transaction((tx) => askToRelease(tx, asked, by('ada')));
      const signed = await database.transaction((tx) => signRequest(tx, request, by('grace'), new Map()));
      await files.rounds(exchange);
      await incomingSteps(dependencies).goWoken(database.reader);
      return signed.done;
    },
    instructionsOf: (id) =>
      files.rows(`SELECT state, held_reason FROM bank_instructions WHERE transfer_id = '${id}' ORDER BY attempt`),
  };
}
