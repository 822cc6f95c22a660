import { amountText } from '../look/values.tsx';
import type { Column } from './list.ts';

const text = ({ amountMinor, currency }: { readonly amountMinor: bigint; readonly currency: string }) =>
  amountText(amountMinor, currency);

/** The amount of a row, as its currency writes it. */
export const AMOUNT = { header: 'Amount', isNumber: true, cell: text, text } satisfies Column<never>;
