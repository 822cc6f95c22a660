export type { Answer, Call, CallOptions, ListOptions, PostOptions } from './call.ts';
export { type ClientOptions, createClient, type FinancialAccountsClient, type GivenTokens } from './client.ts';
export { ApiError, type ClientErrorCode, isRejection, type Problem } from './errors.ts';
export type { ErrorCodes, Routes } from './generated/contract.ts';
export type * from './generated/types.ts';
export type { Credentials, SigningKey } from './http/token.ts';
export type { LogEntry } from './http/transport.ts';
export type { List, Page } from './list.ts';
export type { WaitFor, WaitOptions } from './wait-for.ts';
