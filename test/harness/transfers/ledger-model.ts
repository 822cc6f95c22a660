/**
 * A second, simpler ledger to check the service against: plain maps, whole pence, one operation at a time. It shares
 * no code with the service and restates the rules from the interface and the decisions only.
 */
export type Word = 'released' | 'completed' | 'failed' | 'returned';

export type Operation =
  | { readonly kind: 'internal'; readonly from: string; readonly to: string; readonly pence: number }
  | { readonly kind: 'dated'; readonly from: string; readonly to: string; readonly pence: number }
  | { readonly kind: 'external'; readonly from: string; readonly pence: number }
  | { readonly kind: 'credit'; readonly to: string; readonly pence: number }
  | {
      readonly kind: 'adjustment';
      readonly account: string;
      readonly direction: 'debit' | 'credit';
      readonly against: 'settlement' | 'fees' | 'correction';
      readonly pence: number;
    }
  | { readonly kind: 'dry-run'; readonly from: string; readonly to: string; readonly pence: number }
  | { readonly kind: 'cancel'; readonly transfer: string }
  | { readonly kind: 'report'; readonly transfer: string; readonly word: Word };

export type Status = 'pending' | 'processing' | 'released' | 'completed' | 'cancelled' | 'failed';

/** A statement's line without its number and instant. */
export interface Entry {
  readonly direction: 'debit' | 'credit';
  readonly pence: number;
  readonly transactionType: 'incoming-transfer' | 'outgoing-transfer' | 'balance-adjustment';
  readonly entryType: 'principal' | 'fee';
}

interface Account {
  posted: number;
  reserved: number;
  readonly entries: Entry[];
}

interface Transfer {
  readonly from: string;
  /** Null: outside the service. */
  readonly to: string | null;
  readonly pence: number;
  readonly fee: number;
  status: Status;
  returned: boolean;
  readonly events: string[];
  /** Of the receiver's side of an internal transfer. */
  readonly incomingEvents: string[];
}

export interface ModelState {
  readonly accounts: Map<string, Account>;
  readonly transfers: Map<string, Transfer>;
  /** What each system account holds. */
  readonly system: { settlement: number; fees: number; correction: number };
}

const OK = 200;
const CREATED = 201;
const ILLEGAL = 409;
const TOO_LITTLE = 422;

/** One per cent, rounded half up, at least 5 pence and at most 2 pounds. */
export function internalFee(pence: number): number {
  return Math.min(200, Math.max(5, Math.floor((pence + 50) / 100)));
}
export const EXTERNAL_FEE = 25;
export function creditFee(pence: number): number {
  return Math.min(10, pence);
}

export class LedgerModel {
  state: ModelState = { accounts: new Map(), transfers: new Map(), system: { settlement: 0, fees: 0, correction: 0 } };

  addAccount(id: string): void {
    this.state.accounts.set(id, { posted: 0, reserved: 0, entries: [] });
  }

  account(id: string): Account {
    const account = this.state.accounts.get(id);
    if (account === undefined) throw new Error(`the model has no account ${id}`);
    return account;
  }

  available(id: string): number {
    const { posted, reserved } = this.account(id);
    return posted - reserved;
  }

  transfer(id: string): Transfer {
    const transfer = this.state.transfers.get(id);
    if (transfer === undefined) throw new Error(`the model has no transfer ${id}`);
    return transfer;
  }

  /** Carries out one operation and returns the expected status. `id` is the id of a created transfer. */
  apply(operation: Operation, id: string | null): number {
    switch (operation.kind) {
      case 'internal':
        return this.#internal(operation, id);
      case 'dry-run':
        return this.available(operation.from) < operation.pence + internalFee(operation.pence) ? TOO_LITTLE : OK;
      case 'dated': {
        const { from, to, pence } = operation;
        this.#add(id, { from, to, pence, fee: internalFee(pence) });
        return CREATED;
      }
      case 'external': {
        const { from, pence } = operation;
        this.#reserveIfCovered(this.#add(id, { from, to: null, pence, fee: EXTERNAL_FEE }));
        return CREATED;
      }
      case 'credit':
        this.#receive(operation.to, operation.pence, creditFee(operation.pence));
        return CREATED;
      case 'adjustment':
        return this.#adjust(operation);
      case 'cancel':
        return this.#cancel(this.transfer(operation.transfer));
      case 'report':
        return this.#report(this.transfer(operation.transfer), operation.word);
    }
  }

  /** Admits waiting transfers after credits: per account, oldest first, whatever fits. */
  admit(): void {
    const waiting = [...this.state.transfers].filter(([, { to, status }]) => to === null && status === 'pending');
    for (const [, transfer] of waiting.sort(([one], [other]) => (one < other ? -1 : 1))) {
      this.#reserveIfCovered(transfer);
    }
  }

  /** The day of a dated transfer has come. */
  fallDue(id: string): void {
    const transfer = this.transfer(id);
    if (transfer.status !== 'pending' || transfer.to === null) return;
    if (this.available(transfer.from) < transfer.pence + transfer.fee) return;
    this.#settle(transfer, transfer.to);
  }

  /** All that an observer compares, as one text. */
  fingerprint(): string {
    const balances = [...this.state.accounts.keys()].map((id) => `${id} ${this.available(id)}`);
    const statuses = [...this.state.transfers].map(([id, { status, returned }]) => `${id} ${status} ${returned}`);
    return [...balances, ...statuses].sort().join('\n');
  }

  #internal({ from, to, pence }: { from: string; to: string; pence: number }, id: string | null): number {
    const fee = internalFee(pence);
    if (this.available(from) < pence + fee) return TOO_LITTLE;
    this.#settle(this.#add(id, { from, to, pence, fee }), to);
    return CREATED;
  }

  #add(id: string | null, transfer: Pick<Transfer, 'from' | 'to' | 'pence' | 'fee'>): Transfer {
    const added: Transfer = {
      ...transfer,
      status: 'pending',
      returned: false,
      events: ['created'],
      incomingEvents: transfer.to === null ? [] : ['pending'],
    };
    if (id !== null) this.state.transfers.set(id, added);
    return added;
  }

  #settle(transfer: Transfer, to: string): void {
    transfer.events.push('processing', 'released', 'completed');
    transfer.incomingEvents.push('completed');
    transfer.status = 'completed';
    this.#move(transfer.from, -transfer.pence, 'outgoing-transfer', 'principal');
    this.#move(to, transfer.pence, 'incoming-transfer', 'principal');
    this.#chargeFee(transfer);
  }

  #reserveIfCovered(transfer: Transfer): void {
    const total = transfer.pence + transfer.fee;
    if (this.available(transfer.from) < total) return;
    this.account(transfer.from).reserved += total;
    transfer.status = 'processing';
    transfer.events.push('processing');
  }

  #receive(to: string, pence: number, fee: number): void {
    this.#move(to, pence, 'incoming-transfer', 'principal');
    this.state.system.settlement -= pence;
    if (fee === 0) return;
    this.#move(to, -fee, 'incoming-transfer', 'fee');
    this.state.system.fees += fee;
  }

  #adjust({ account, direction, against, pence }: Extract<Operation, { kind: 'adjustment' }>): number {
    if (direction === 'debit' && this.available(account) < pence) return TOO_LITTLE;
    const signed = direction === 'debit' ? -pence : pence;
    this.#move(account, signed, 'balance-adjustment', 'principal');
    this.state.system[against] -= signed;
    return CREATED;
  }

  #cancel(transfer: Transfer): number {
    if (transfer.status !== 'pending') return ILLEGAL;
    transfer.status = 'cancelled';
    transfer.events.push('cancelled');
    if (transfer.to !== null) transfer.incomingEvents.push('failed');
    return OK;
  }

  #report(transfer: Transfer, word: Word): number {
    const { status } = transfer;
    if (transfer.to !== null) return ILLEGAL;
    if (word === 'released' && status === 'processing') this.#release(transfer);
    else if (word === 'completed' && (status === 'processing' || status === 'released')) {
      if (status === 'processing') this.#release(transfer);
      transfer.status = 'completed';
      transfer.events.push('completed');
    } else if (word === 'failed' && (status === 'processing' || status === 'released')) this.#fail(transfer);
    else if (word === 'returned' && status === 'completed' && !transfer.returned) {
      this.#receive(transfer.from, transfer.pence, 0);
      transfer.returned = true;
      transfer.events.push('returned');
    } else if (!isImplied(transfer, word)) return ILLEGAL;
    return OK;
  }

  #release(transfer: Transfer): void {
    this.account(transfer.from).reserved -= transfer.pence + transfer.fee;
    this.#move(transfer.from, -transfer.pence, 'outgoing-transfer', 'principal');
    this.state.system.settlement += transfer.pence;
    this.#chargeFee(transfer);
    transfer.status = 'released';
    transfer.events.push('released');
  }

  #fail(transfer: Transfer): void {
    if (transfer.status === 'processing') this.account(transfer.from).reserved -= transfer.pence + transfer.fee;
    else {
      this.#move(transfer.from, transfer.pence, 'outgoing-transfer', 'principal');
      this.#move(transfer.from, transfer.fee, 'outgoing-transfer', 'fee');
      this.state.system.settlement -= transfer.pence;
      this.state.system.fees -= transfer.fee;
    }
    transfer.status = 'failed';
    transfer.events.push('failed');
  }

  #chargeFee({ from, fee }: Transfer): void {
    this.#move(from, -fee, 'outgoing-transfer', 'fee');
    this.state.system.fees += fee;
  }

  #move(id: string, pence: number, transactionType: Entry['transactionType'], entryType: Entry['entryType']): void {
    const account = this.account(id);
    account.posted += pence;
    const direction = pence < 0 ? 'debit' : 'credit';
    account.entries.push({ direction, pence: Math.abs(pence), transactionType, entryType });
  }
}

/** Whether a report is already recorded: it may be repeated, and come late. */
function isImplied({ status, returned, events }: Transfer, word: Word): boolean {
  if (word === 'released') return events.includes('released');
  return word === 'returned' ? returned : word === status;
}

/** An answered operation: its status, and the id of the created transfer. */
export interface Answered {
  readonly operation: Operation;
  readonly status: number;
  readonly id: string | null;
}

/**
 * Whether concurrent operations were answered, and left the books, as if they had run in some sequential order. The
 * model then adopts that order's result; otherwise it stays unchanged.
 */
export function isSerializable(model: LedgerModel, answered: readonly Answered[], observed: string): boolean {
  const [first, ...rest] = answered;
  if (first === undefined) return model.fingerprint() === observed;
  const before = model.state;
  for (const [index, { operation, status, id }] of answered.entries()) {
    model.state = structuredClone(before);
    if (model.apply(operation, status === CREATED ? id : null) !== status) continue;
    const others = index === 0 ? rest : answered.filter((_, other) => other !== index);
    if (isSerializable(model, others, observed)) return true;
  }
  model.state = before;
  return false;
}
