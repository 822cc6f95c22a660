import { parseArgs } from 'node:util';
import { listPositions } from '../../../db/ledger/positions.ts';
import { formatAmount } from '../../../domain/common/money.ts';
import { textTable } from '../../common/text-table.ts';
import type { OperationContext } from '../operation.ts';

/** `positions`: what the books say of each provider, and what banks owe each other after internal transfers. */
export async function showPositions({ database, arguments: given, print }: OperationContext): Promise<0> {
  const { values } = parseArgs({ args: [...given], options: { json: { type: 'boolean', default: false } } });
  const positions = (await listPositions(database.reader)).map(({ provider, currency, ...minor }) => ({
    serviceProvider: provider,
    currency,
    clients: formatAmount(minor.clientsMinor, currency),
    held: formatAmount(minor.heldMinor, currency),
    own: formatAmount(minor.ownMinor, currency),
    settled: formatAmount(minor.settledMinor, currency),
    owedByOthers: formatAmount(minor.owedByOthersMinor, currency),
  }));
  if (values.json) print(JSON.stringify({ positions }));
  else {
    const rows = positions.map(({ serviceProvider, currency, clients, held, own, settled, owedByOthers }) => [
      serviceProvider,
      currency,
      clients,
      held,
      own,
      settled,
      owedByOthers,
    ]);
    print(textTable([['provider', 'currency', 'clients', 'held', 'own', 'settled', 'owed by others'], ...rows]));
  }
  return 0;
}
