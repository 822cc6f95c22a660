import { parseArgs } from 'node:util';
import { listPositions } from '../../db/ledger/positions.ts';
import { formatAmount } from '../../domain/frame/money.ts';
import { aligned } from '../frame/aligned.ts';
import type { OperationContext } from './operations.ts';

/**
 * `positions`: what the books say of each provider, and what banks owe each other after internal transfers. 1 if they owe
 * each other something.
 */
export async function showPositions({ database, arguments: given, print }: OperationContext): Promise<0 | 1> {
  const { values } = parseArgs({ args: [...given], options: { json: { type: 'boolean', default: false } } });
  const positions = (await listPositions(database.reader)).map(({ provider, currency, ...minor }) => ({
    serviceProvider: provider,
    currency,
    clients: formatAmount(minor.clientsMinor, currency),
    own: formatAmount(minor.ownMinor, currency),
    settled: formatAmount(minor.settledMinor, currency),
    owedByOthers: formatAmount(minor.owedByOthersMinor, currency),
    isEven: minor.owedByOthersMinor === 0n,
  }));
  if (values.json) print(JSON.stringify({ positions: positions.map(({ isEven: _, ...shown }) => shown) }));
  else {
    const rows = positions.map(({ serviceProvider, currency, clients, own, settled, owedByOthers }) => [
      serviceProvider,
      currency,
      clients,
      own,
      settled,
      owedByOthers,
    ]);
    print(aligned([['provider', 'currency', 'clients', 'own', 'settled', 'owed by others'], ...rows]));
  }
  return positions.every(({ isEven }) => isEven) ? 0 : 1;
}
