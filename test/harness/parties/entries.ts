import type postgres from 'postgres';

/** Gives an account without entries many at once: a penny each, a second apart, the last one a minute ago. */
export async function createEntries(sql: postgres.Sql, accountId: string, count: number): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`
      INSERT INTO postings (posted_at, debit_account_id, credit_account_id, amount_minor, credit_version,
          credit_balance_after_minor, currency, debit_transaction_number, credit_transaction_number,
          debit_transaction_type, credit_transaction_type, entry_type, narrative)
        SELECT now() - interval '1 minute' - (${count}::integer - number) * interval '1 second',
          system_account('custom-bank', 'GBP', 'settlement'), ${accountId}, 1, number, number, 'GBP', '20260101-AAAAAA',
          '20260101-AAAAAA', 'incoming-transfer', 'incoming-transfer', 'principal', 'Invoice ' || number
        FROM generate_series(1, ${count}::integer) AS number`;
    await tx`
      UPDATE accounts SET version = ${count}, posted_minor = ${count}, last_entry_at = now() - interval '1 minute'
        WHERE id = ${accountId} AND version = 0`;
  });
}
